/* sender: the I/O thread. It hands requests to the transport, a bounded number at once, and
 * decides what their outcome means. */
#include "pool.h"

#include "error.h"

#include <string.h>

enum { POLL_MS = 60 * 1000 };

/* ---- what is under way -------------------------------------------------------------------- */

static void push_active(chute_pool *pool, chute_request *request) {
    request->next = pool->active;
    pool->active = request;
    pool->active_count++;
}

static void drop_active(chute_pool *pool, chute_request *request) {
    chute_request **at = &pool->active;
    while (*at != request) at = &(*at)->next;
    *at = request->next;
    request->next = NULL;
    pool->active_count--;
}

/* ---- first contact ------------------------------------------------------------------------ */

static void begin(chute_pool *pool, chute_request *request);

/* None of the inserts that wait for the host was sent: their errors are certain. Those that come
 * from now on have a contact of their own. */
static void refuse_inserts(chute_pool *pool, const chute_error *cause) {
    chute_error err = *cause;
    chute_request *request;
    err.flags &= ~(uint32_t)CHUTE_UNCERTAIN;
    pthread_mutex_lock(&pool->lock);
    struct chute_request_queue waiting = pool->ready[CHUTE_READY_INSERTS];
    pool->ready[CHUTE_READY_INSERTS] = (struct chute_request_queue){0};
    pthread_mutex_unlock(&pool->lock);
    while ((request = chute_request_pop(&waiting))) chute_pool_end(request, &err);
}

static void ask(chute_pool *pool) {
    chute_error err;
    chute_query query = {.sql = chute_host_question,
                         .sql_len = strlen(chute_host_question),
                         .format = chute_host_answer_format};
    pool->contact = chute_request_new(CHUTE_REQUEST_CONTACT, &query, &err);
    if (!pool->contact) {
        refuse_inserts(pool, &err);
        return;
    }
    pool->contact->pool = pool;
    begin(pool, pool->contact);
}

/* The request has two references, both the pool's. */
static void settle_contact(chute_pool *pool, chute_request *request) {
    const chute_text *answer = &request->outcome.body;
    chute_error err = request->error;
    pool->contact = NULL;
    if (err.kind || chute_host_meet(&pool->host, answer->at, answer->len, &err))
        refuse_inserts(pool, &err);
    chute_request_release(request);
    chute_pool_end(request, NULL);
}

/* ---- outcomes ----------------------------------------------------------------------------- */

enum { UNKNOWN_SETTING = 115 };

/* The transport is done with a request: the one place that decides what happens then. */
static void settle(void *context, chute_request *request) {
    chute_pool *pool = context;
    drop_active(pool, request);
    if (request->kind == CHUTE_REQUEST_CONTACT) {
        settle_contact(pool, request);
        return;
    }
    /* Another version may stand there by now. */
    if (request->error.code == UNKNOWN_SETTING && pool->asks) pool->host.met = false;
    chute_pool_end(request, NULL);
}

static void cancel(chute_pool *pool, chute_request *request, const char *why) {
    bool left = pool->transport->ops->cancel(pool->transport, request);
    chute_fail(&request->error, CHUTE_E_CLOSED, "%s", why);
    request->error.flags = CHUTE_RETRYABLE | (left ? CHUTE_UNCERTAIN : 0);
    settle(pool, request);
}

static void cancel_unwanted(chute_pool *pool) {
    for (chute_request *at = pool->active, *next; at; at = next) {
        next = at->next;
        if (at->cancelled) cancel(pool, at, "the request was cancelled");
    }
}

static void resume_roomy(chute_pool *pool) {
    for (chute_request *at = pool->active; at; at = at->next)
        if (chute_request_has_room(at)) pool->transport->ops->resume(pool->transport, at);
}

/* ---- the loop ----------------------------------------------------------------------------- */

static void begin(chute_pool *pool, chute_request *request) {
    push_active(pool, request);
    if (request->batch) request->batch->attempts++;
    pool->transport->ops->start(pool->transport, request);
}

/* The next request in turn, or NULL. Inserts wait until the host is known. */
static chute_request *next_ready(chute_pool *pool) {
    chute_request *request = NULL;
    pthread_mutex_lock(&pool->lock);
    for (unsigned i = 0; i < 2 && !request; i++) {
        unsigned which = (pool->turn + i) % 2;
        if (which == CHUTE_READY_INSERTS && !pool->host.met) continue;
        request = chute_request_pop(&pool->ready[which]);
        if (request) pool->turn = (which + 1) % 2;
    }
    pthread_mutex_unlock(&pool->lock);
    return request;
}

static bool inserts_wait(chute_pool *pool) {
    pthread_mutex_lock(&pool->lock);
    bool wait = !pool->host.met && !pool->contact && pool->ready[CHUTE_READY_INSERTS].first;
    pthread_mutex_unlock(&pool->lock);
    return wait;
}

static void begin_or_drop(chute_pool *pool, chute_request *request) {
    if (!request->cancelled) {
        begin(pool, request);
        return;
    }
    chute_error err;
    chute_fail(&err, CHUTE_E_CLOSED, "the request was cancelled");
    chute_pool_end(request, &err);
}

static bool has_room(const chute_pool *pool) {
    return !pool->closing && pool->active_count < pool->transport->at_once;
}

static void admit(chute_pool *pool) {
    chute_request *request;
    if (has_room(pool) && inserts_wait(pool)) ask(pool);
    while (has_room(pool) && (request = next_ready(pool))) begin_or_drop(pool, request);
}

static void wait(chute_pool *pool) {
    const struct chute_transport_ops *ops = pool->transport->ops;
    if (ops->poll) {
        ops->poll(pool->transport, POLL_MS);
        return;
    }
    pthread_mutex_lock(&pool->lock);
    while (!pool->closing && !pool->ready[0].first && !pool->ready[1].first)
        pthread_cond_wait(&pool->sender_wake, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

static void close_transport(chute_pool *pool) {
    while (pool->active)
        cancel(pool, pool->active, "the pool was closed before the server answered");
    pthread_mutex_lock(&pool->lock);
    chute_transport *transport = pool->transport;
    pool->transport = NULL;
    pthread_mutex_unlock(&pool->lock);
    transport->ops->close(transport);
}

void *chute_sender_run(void *arg) {
    chute_pool *pool = arg;
    pool->transport->context = pool;
    pool->transport->finished = settle;
    while (!pool->closing) {
        cancel_unwanted(pool); /* which makes room */
        resume_roomy(pool);
        admit(pool);
        if (!pool->closing) wait(pool);
    }
    close_transport(pool);
    chute_pool_thread_ends(pool);
    return NULL;
}
