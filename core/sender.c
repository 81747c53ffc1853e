/* sender: the I/O thread. It hands requests to the transport, a bounded number at once, and
 * decides what their outcome means. */
#include "pool.h"

#include "clock.h"
#include "error.h"

#include <string.h>

enum { POLL_MS = 60 * 1000 };

/* ---- what is under way -------------------------------------------------------------------- */

static void push_active(chute_pool *pool, chute_request *request) {
    request->next = pool->active;
    pool->active = request;
    pool->active_count++;
    atomic_fetch_add(&request->host->in_flight, 1);
    atomic_fetch_add(&request->host->sent, 1);
}

static void drop_active(chute_pool *pool, chute_request *request) {
    chute_request **at = &pool->active;
    while (*at != request) at = &(*at)->next;
    *at = request->next;
    request->next = NULL;
    pool->active_count--;
    atomic_fetch_sub(&request->host->in_flight, 1);
}

static void begin(chute_pool *pool, chute_request *request) {
    push_active(pool, request);
    if (request->tries.attempts++ == 0) request->tries.first_ms = chute_clock_ms();
    if (request->batch) chute_batch_attempt(request->batch);
    request->sent_ms = chute_clock_ms();
    if (request->ready_ms) chute_timer_add(&pool->meter.wait, request->sent_ms - request->ready_ms);
    request->ready_ms = 0;
    pool->transport->ops->start(pool->transport, request);
}

/* Puts requests, in their order, before all that are ready, and empties the queue. */
static void put_first(chute_pool *pool, struct chute_request_queue *queue, unsigned which) {
    struct chute_request_queue *ready = &pool->ready[which];
    if (!queue->first) return;
    pthread_mutex_lock(&pool->lock);
    queue->last->next = ready->first;
    if (!ready->first) ready->last = queue->last;
    ready->first = queue->first;
    pthread_mutex_unlock(&pool->lock);
    *queue = (struct chute_request_queue){0};
}

/* ---- other attempts ----------------------------------------------------------------------- */

static int reason_of(const chute_error *err) {
    if (err->kind == CHUTE_E_NETWORK) return CHUTE_RETRY_NETWORK;
    if (err->kind == CHUTE_E_TIMEOUT) return CHUTE_RETRY_TIMEOUT;
    bool busy = err->status == 429 || err->status == 503 || err->code == 202 || err->code == 252;
    return busy ? CHUTE_RETRY_BUSY : CHUTE_RETRY_SERVER;
}

/* Keeps a request until it is due. */
static void rest(chute_pool *pool, chute_request *request) {
    chute_request **at = &pool->resting;
    while (*at && (*at)->due_ms <= request->due_ms) at = &(*at)->next;
    request->next = *at;
    *at = request;
}

static bool is_given_up(const chute_request *request) {
    return request->batch && request->batch->insert->given_up;
}

/* Its owner has closed: what could still have been delivered is no refusal of the server's. */
static void end_given_up(chute_request *request) {
    uint32_t uncertain = request->error.flags & CHUTE_UNCERTAIN;
    chute_fail(&request->error, CHUTE_E_CLOSED, "the stream was closed before it was delivered");
    request->error.flags = CHUTE_RETRYABLE | uncertain;
    chute_pool_end(request, NULL);
}

static bool retry_batch(chute_pool *pool, chute_request *request) {
    chute_batch *batch = request->batch;
    if (!batch || pool->closing || !(request->error.flags & CHUTE_RETRYABLE) ||
        !chute_retry_next(&batch->insert->retry, &request->tries, chute_clock_ms(),
                          request->outcome.retry_after_ms, &request->due_ms))
        return false;
    atomic_fetch_add(&pool->retries[reason_of(&request->error)], 1);
    batch->error = request->error;
    if (batch->retried) batch->retried(batch);
    chute_request_again(request);
    rest(pool, request);
    return true;
}

/* What is no batch has its caller's patience alone: it goes to each host once, as long as none of
 * it can have been done. */
static bool try_elsewhere(chute_pool *pool, chute_request *request) {
    const chute_error *err = &request->error;
    bool unsent = (err->kind == CHUTE_E_NETWORK || err->kind == CHUTE_E_TIMEOUT) &&
                  err->flags == CHUTE_RETRYABLE;
    if (!unsent || request->batch || pool->closing || request->cancelled ||
        request->tries.attempts >= pool->hosts.count)
        return false;
    struct chute_request_queue queue = {request, request};
    chute_request_again(request);
    put_first(pool, &queue, request->insert ? CHUTE_READY_INSERTS : CHUTE_READY_QUERIES);
    return true;
}

static void fail_attempt(chute_pool *pool, chute_request *request) {
    if (is_given_up(request) && request->error.flags & CHUTE_RETRYABLE)
        end_given_up(request);
    else if (!retry_batch(pool, request) && !try_elsewhere(pool, request))
        chute_pool_end(request, NULL);
}

/* The resting requests that are due, or given up, are ready again, in order. */
static void wake_due(chute_pool *pool) {
    struct chute_request_queue due = {0};
    uint64_t now = pool->resting ? chute_clock_ms() : 0;
    for (chute_request **at = &pool->resting, *request; (request = *at);) {
        if (request->due_ms > now && !is_given_up(request)) {
            at = &request->next;
            continue;
        }
        *at = request->next;
        chute_request_push(&due, request);
    }
    put_first(pool, &due, CHUTE_READY_INSERTS);
}

/* ---- first contact ------------------------------------------------------------------------ */

static chute_request *own_request(chute_pool *pool, chute_host *host, int kind,
                                  const chute_query *query, chute_error *err) {
    chute_request *request = chute_request_new(kind, query, err);
    if (!request) return NULL;
    request->pool = pool;
    request->host = host;
    return request;
}

/* None of the inserts that wait for the host was sent: their errors are certain. Those that come
 * from now on have a contact of their own. */
static void refuse_waiting(chute_pool *pool, chute_host *host, const chute_error *cause) {
    struct chute_request_queue waiting = host->waiting;
    chute_request *request;
    host->waiting = (struct chute_request_queue){0};
    while ((request = chute_request_pop(&waiting))) {
        request->error = *cause;
        request->error.flags &= ~(uint32_t)CHUTE_UNCERTAIN;
        request->host = host;
        if (request->tries.attempts++ == 0) request->tries.first_ms = chute_clock_ms();
        fail_attempt(pool, request);
    }
}

static void ask(chute_pool *pool, chute_host *host) {
    chute_error err;
    chute_query query = {.sql = chute_host_question,
                         .sql_len = strlen(chute_host_question),
                         .format = chute_host_answer_format};
    host->contact = own_request(pool, host, CHUTE_REQUEST_CONTACT, &query, &err);
    if (host->contact)
        begin(pool, host->contact);
    else
        refuse_waiting(pool, host, &err);
}

/* The request has two references, both the pool's. */
static void release_own(chute_request *request) {
    chute_request_release(request);
    chute_pool_end(request, NULL);
}

static void settle_contact(chute_pool *pool, chute_request *request) {
    const chute_text *answer = &request->outcome.body;
    chute_host *host = request->host;
    chute_error err = request->error;
    host->contact = NULL;
    if (err.kind || chute_host_meet(host, answer->at, answer->len, &err))
        refuse_waiting(pool, host, &err);
    else
        put_first(pool, &host->waiting, CHUTE_READY_INSERTS);
    release_own(request);
}

/* ---- ejected hosts ------------------------------------------------------------------------ */

enum { PROBE_MS = 5000 };

static void probe(chute_pool *pool, chute_host *host, uint64_t now) {
    chute_query query = {.sql = "", .timeout_ms = PROBE_MS};
    host->probe = own_request(pool, host, CHUTE_REQUEST_PROBE, &query, NULL);
    if (host->probe)
        begin(pool, host->probe);
    else
        host->probe_at = now + PROBE_MS;
}

static void probe_due(chute_pool *pool) {
    uint64_t now = chute_clock_ms();
    for (uint32_t i = 0; i < pool->hosts.count; i++) {
        chute_host *host = &pool->hosts.at[i];
        if (atomic_load(&host->ejected) && !host->probe && host->probe_at <= now)
            probe(pool, host, now);
    }
}

/* ---- outcomes ----------------------------------------------------------------------------- */

enum { UNKNOWN_SETTING = 115 };

static void measure(chute_pool *pool, const chute_request *request) {
    chute_meter *meter = &pool->meter;
    bool failed = request->error.kind != 0;
    if (request->kind != CHUTE_REQUEST_QUERY && request->kind != CHUTE_REQUEST_BATCH) return;
    atomic_fetch_add(&meter->requests[2 * request->insert + failed], 1);
    chute_timer_add(&meter->send, chute_clock_ms() - request->sent_ms);
    if (failed) return;
    atomic_fetch_add(&meter->bytes_raw, request->rows_len);
    atomic_fetch_add(&meter->bytes_sent, request->packed ? request->packed_len : request->rows_len);
}

/* The transport is done with a request: the one place that decides what happens then. */
static void settle(void *context, chute_request *request) {
    chute_pool *pool = context;
    chute_host *host = request->host;
    drop_active(pool, request);
    measure(pool, request);
    chute_hosts_learn(&pool->hosts, host, request, chute_clock_ms());
    if (request->kind == CHUTE_REQUEST_CONTACT) {
        settle_contact(pool, request);
        return;
    }
    if (request->kind == CHUTE_REQUEST_PROBE) {
        host->probe = NULL;
        release_own(request);
        return;
    }
    /* Another version may stand there by now. */
    if (request->error.code == UNKNOWN_SETTING) host->met = host->lasting;
    if (request->error.kind)
        fail_attempt(pool, request);
    else
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

/* The next request in turn, or NULL. */
static chute_request *next_ready(chute_pool *pool) {
    chute_request *request = NULL;
    pthread_mutex_lock(&pool->lock);
    for (unsigned i = 0; i < 2 && !request; i++) {
        unsigned which = (pool->turn + i) % 2;
        request = chute_request_pop(&pool->ready[which]);
        if (request) pool->turn = (which + 1) % 2;
    }
    pthread_mutex_unlock(&pool->lock);
    return request;
}

/* Inserts wait until their host is known. */
static void send_on(chute_pool *pool, chute_request *request) {
    chute_host *host = chute_hosts_pick(&pool->hosts, request);
    if (!request->insert || host->met) {
        request->host = host;
        begin(pool, request);
        return;
    }
    chute_request_push(&host->waiting, request);
    if (!host->contact) ask(pool, host);
}

static void send_or_drop(chute_pool *pool, chute_request *request) {
    if (is_given_up(request)) {
        end_given_up(request);
        return;
    }
    if (!request->cancelled) {
        send_on(pool, request);
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
    wake_due(pool);
    probe_due(pool);
    while (has_room(pool) && (request = next_ready(pool))) send_or_drop(pool, request);
}

static uint32_t ms_to_wait(const chute_pool *pool) {
    uint64_t now = chute_clock_ms(), next = chute_hosts_next_probe(&pool->hosts);
    if (pool->resting && pool->resting->due_ms < next) next = pool->resting->due_ms;
    if (next <= now) return 0;
    return next - now < POLL_MS ? (uint32_t)(next - now) : POLL_MS;
}

/* For a transport that has nothing to wait for itself. Whatever ends the wait, the loop looks at
 * everything again. */
static void wait_for_work(chute_pool *pool, uint32_t ms) {
    uint64_t at = chute_clock_ms() + ms;
    struct timespec until = {.tv_sec = (time_t)(at / 1000), .tv_nsec = (long)(at % 1000) * 1000000};
    pthread_mutex_lock(&pool->lock);
    if (!pool->closing && !pool->ready[0].first && !pool->ready[1].first)
        pthread_cond_timedwait(&pool->sender_wake, &pool->lock, &until);
    pthread_mutex_unlock(&pool->lock);
}

static void wait(chute_pool *pool) {
    const struct chute_transport_ops *ops = pool->transport->ops;
    uint32_t ms = ms_to_wait(pool);
    if (ops->poll)
        ops->poll(pool->transport, ms);
    else
        wait_for_work(pool, ms);
}

static void end_resting(chute_pool *pool) {
    chute_error err;
    chute_fail(&err, CHUTE_E_CLOSED, "the pool was closed before the next attempt");
    err.flags = CHUTE_RETRYABLE;
    for (chute_request *request; (request = pool->resting);) {
        pool->resting = request->next;
        request->next = NULL;
        chute_pool_end(request, &err);
    }
}

static void close_transport(chute_pool *pool) {
    while (pool->active)
        cancel(pool, pool->active, "the pool was closed before the server answered");
    end_resting(pool);
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
