#include "request.h"

#include "compress.h"
#include "error.h"
#include "infile.h"
#include "pool.h"
#include "process.h"
#include "url.h"
#include "uuid.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- making ------------------------------------------------------------------------------- */

/* A copy of pairs and their texts in one piece. False: no memory. */
static bool copy_pairs(const chute_pair *pairs, size_t count, chute_pair **copy, size_t *copied) {
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += sizeof *pairs + strlen(pairs[i].name) + strlen(pairs[i].value) + 2;
    *copied = 0;
    *copy = NULL;
    if (count == 0) return true;
    *copy = malloc(bytes);
    if (!*copy) return false;
    char *text = (char *)(*copy + count);
    for (size_t i = 0; i < count; i++) {
        (*copy)[i].name = text;
        text = stpcpy(text, pairs[i].name) + 1;
        (*copy)[i].value = text;
        text = stpcpy(text, pairs[i].value) + 1;
    }
    *copied = count;
    return true;
}

static bool copy_sql(chute_request *request, const char *sql, size_t len) {
    if (len > SIZE_MAX - 2) return false;
    request->sql = malloc(len + 2);
    if (!request->sql) return false;
    if (len) memcpy(request->sql, sql, len);
    memcpy(request->sql + len, "\n", 2);
    request->sql_len = len;
    return true;
}

static bool copy_rows(chute_request *request, const char *body, size_t len) {
    if (!body) return true;
    request->owned = malloc(len ? len : 1);
    if (!request->owned) return false;
    if (len) memcpy(request->owned, body, len);
    request->rows = request->owned;
    request->rows_len = len;
    return true;
}

static void init_lock(chute_request *request) {
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&request->changed, &attr);
    pthread_condattr_destroy(&attr);
    pthread_mutex_init(&request->lock, NULL);
}

static chute_request *make(int kind, uint32_t refs) {
    chute_request *request = calloc(1, sizeof *request);
    if (!request) return NULL;
    request->kind = kind;
    request->generation = chute_process_generation();
    request->error.column = -1;
    atomic_init(&request->refs, refs);
    init_lock(request);
    return request;
}

/* Whether the statement is too long for a URL once it is percent-encoded. */
static bool is_long(const char *sql, size_t len) {
    if (len > CHUTE_SQL_IN_URL_MAX) return true;
    char escaped[3 * CHUTE_SQL_IN_URL_MAX + 1];
    return chute_url_escape(escaped, sql, len) > CHUTE_SQL_IN_URL_MAX;
}

/* A statement without rows is the body itself: libcurl re-sends by itself what has no body. */
static void place_sql(chute_request *request, bool wanted_first) {
    request->sql_first = wanted_first || !request->rows || is_long(request->sql, request->sql_len);
}

static bool fill(chute_request *request, const chute_query *query) {
    request->compression = query->compression;
    request->level = query->level;
    request->timeout_ms = query->timeout_ms;
    request->stream = query->stream;
    request->compress_response = query->compress_response;
    request->tells_progress = query->progress;
    if (query->format && !(request->format = strdup(query->format))) return false;
    return copy_sql(request, query->sql, query->sql_len) &&
           copy_rows(request, query->body, query->body_len) &&
           copy_pairs(query->settings, query->settings_count, &request->settings,
                      &request->settings_count) &&
           copy_pairs(query->params, query->params_count, &request->params,
                      &request->params_count) &&
           copy_pairs(query->headers, query->headers_count, &request->headers,
                      &request->headers_count);
}

static int no_memory(chute_error *err) {
    return chute_fail(err, CHUTE_E_NOMEM, "no memory for a request");
}

chute_request *chute_request_new(int kind, const chute_query *query, chute_error *err) {
    if (chute_compress_check(query->compression, query->level, err)) return NULL;
    chute_request *request = make(kind, 2);
    if (!request || !fill(request, query)) {
        no_memory(err);
        goto failed;
    }
    request->insert = request->rows && chute_infile_is_insert(request->sql, request->sql_len);
    place_sql(request, query->sql_in_body);
    if (!request->insert || chute_uuid_v4(request->token) == 0) return request;
    chute_fail(err, CHUTE_E_SYSTEM, "the system gives no random numbers");
failed:
    if (request) {
        atomic_store(&request->refs, 1);
        chute_request_release(request);
    }
    return NULL;
}

static bool write_batch_sql(chute_request *request, const chute_insert *insert) {
    chute_text sql = {0};
    bool fine = chute_text_print(&sql, "%s FORMAT %s", insert->target, insert->format) &&
                copy_sql(request, sql.at, sql.len);
    chute_text_clear(&sql);
    return fine;
}

chute_request *chute_request_of_batch(chute_batch *batch, chute_error *err) {
    const chute_insert *insert = batch->insert;
    chute_request *request = make(CHUTE_REQUEST_BATCH, 1);
    if (!request || !write_batch_sql(request, insert) ||
        !copy_pairs(insert->settings, insert->settings_count, &request->settings,
                    &request->settings_count)) {
        no_memory(err);
        if (request) chute_request_release(request);
        return NULL;
    }
    request->insert = true;
    request->batch = batch;
    request->rows = chute_buffer_data(batch->buffer, &request->rows_len);
    request->compression = insert->compression;
    request->level = insert->level;
    memcpy(request->token, batch->token, sizeof request->token);
    place_sql(request, insert->sql_in_body);
    return request;
}

/* ---- queues ------------------------------------------------------------------------------- */

void chute_request_push(struct chute_request_queue *queue, chute_request *request) {
    request->next = NULL;
    if (queue->first)
        queue->last->next = request;
    else
        queue->first = request;
    queue->last = request;
}

chute_request *chute_request_pop(struct chute_request_queue *queue) {
    chute_request *request = queue->first;
    if (!request) return NULL;
    queue->first = request->next;
    request->next = NULL;
    return request;
}

/* ---- ending ------------------------------------------------------------------------------- */

void chute_request_again(chute_request *request) {
    chute_outcome *outcome = &request->outcome;
    if (request->error.flags & CHUTE_UNCERTAIN) request->doubt = true;
    chute_text_clear(&outcome->body);
    memset(outcome, 0, sizeof *outcome);
    memset(&request->error, 0, sizeof request->error);
    request->error.column = -1;
}

static void give_batch_back(chute_request *request) {
    chute_batch *batch = request->batch;
    if (!batch) return;
    batch->body = request->packed;
    batch->body_len = request->packed ? request->packed_len : request->rows_len;
    batch->error = request->error;
    request->batch = NULL;
    request->packed = NULL;
    request->rows = NULL;
    batch->done(batch);
}

void chute_request_finish(chute_request *request) {
    if (request->error.kind && request->doubt) request->error.flags |= CHUTE_UNCERTAIN;
    give_batch_back(request);
    free(request->packed);
    free(request->owned);
    request->packed = request->owned = NULL;
    pthread_mutex_lock(&request->lock);
    request->done = true;
    pthread_cond_broadcast(&request->changed);
    pthread_mutex_unlock(&request->lock);
}

static void destroy(chute_request *request) {
    pthread_mutex_destroy(&request->lock);
    pthread_cond_destroy(&request->changed);
    chute_text_clear(&request->outcome.body);
    chute_flow_clear(&request->flow);
    free(request->sql);
    free(request->settings);
    free(request->params);
    free(request->headers);
    free(request->format);
    free(request->owned);
    free(request->packed);
    free(request);
}

bool chute_request_release(chute_request *request) {
    if (atomic_fetch_sub_explicit(&request->refs, 1, memory_order_acq_rel) != 1) return false;
    destroy(request);
    return true;
}

/* ---- the caller's side -------------------------------------------------------------------- */

/* A forked child has no threads to wait for, and a lock that nobody may ever open. */
static bool is_forked(const chute_request *request) {
    return request->generation != chute_process_generation();
}

bool chute_request_is_done(chute_request *request) {
    if (is_forked(request)) return true;
    pthread_mutex_lock(&request->lock);
    bool done = request->done;
    pthread_mutex_unlock(&request->lock);
    return done;
}

static struct timespec in_ms(uint32_t ms) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_sec += ms / 1000;
    at.tv_nsec += (long)(ms % 1000) * 1000000;
    if (at.tv_nsec >= 1000000000) {
        at.tv_sec++;
        at.tv_nsec -= 1000000000;
    }
    return at;
}

static bool is_ready(const chute_request *request) {
    return request->done || (request->stream && chute_flow_ready(&request->flow, false));
}

int chute_request_wait(chute_request *request, uint32_t timeout_ms) {
    if (is_forked(request)) return 1;
    struct timespec until = in_ms(timeout_ms);
    int waited = timeout_ms ? 0 : ETIMEDOUT;
    pthread_mutex_lock(&request->lock);
    bool ready = is_ready(request);
    while (!ready && waited == 0) {
        waited = pthread_cond_timedwait(&request->changed, &request->lock, &until);
        ready = is_ready(request);
    }
    pthread_mutex_unlock(&request->lock);
    return ready;
}

int chute_request_result(chute_request *request, chute_result *result, chute_error *err) {
    if (is_forked(request))
        return chute_fail(err, CHUTE_E_CLOSED, "the request was made before fork()");
    bool done = chute_request_is_done(request);
    if (!done && !chute_request_wait(request, 0))
        return chute_fail(err, CHUTE_E_ARG, "the request is still under way");
    if (done && request->error.kind && !request->flow.begun) {
        if (err) *err = request->error;
        return request->error.kind;
    }
    const chute_outcome *outcome = &request->outcome;
    bool whole = !request->stream && outcome->body.len;
    *result = (chute_result){.body = whole ? outcome->body.at : "",
                             .body_len = whole ? outcome->body.len : 0,
                             .summary = outcome->summary,
                             .query_id = outcome->query_id,
                             .format = outcome->format,
                             .timezone = outcome->timezone,
                             .status = outcome->status};
    return 0;
}

/* ---- progress ------------------------------------------------------------------------------ */

void chute_request_tell(chute_request *request, const char *json, size_t len) {
    size_t room = sizeof request->progress - 1, n = len < room ? len : room;
    pthread_mutex_lock(&request->lock);
    memcpy(request->progress, json, n);
    request->progress[n] = '\0';
    pthread_mutex_unlock(&request->lock);
}

size_t chute_request_progress(chute_request *request, char *out, size_t capacity) {
    if (is_forked(request) || capacity == 0) return 0;
    pthread_mutex_lock(&request->lock);
    size_t len = strlen(request->progress), n = len < capacity ? len : capacity - 1;
    memcpy(out, request->progress, n);
    pthread_mutex_unlock(&request->lock);
    out[n] = '\0';
    return n;
}

/* ---- streams ------------------------------------------------------------------------------ */

int chute_request_flow(chute_request *request, const char *bytes, size_t len, bool bare) {
    struct chute_flow *flow = &request->flow;
    int added = 0;
    pthread_mutex_lock(&request->lock);
    flow->begun = true;
    flow->bare = bare;
    flow->resting = flow->text.len >= CHUTE_FLOW_AHEAD;
    if (!flow->resting) added = chute_text_add(&flow->text, bytes, len) ? 1 : CHUTE_E_NOMEM;
    if (chute_flow_ready(flow, false)) pthread_cond_broadcast(&request->changed);
    pthread_mutex_unlock(&request->lock);
    return added;
}

static bool is_roomy(const struct chute_flow *flow) {
    return flow->resting && flow->text.len < CHUTE_FLOW_AHEAD / 2;
}

bool chute_request_has_room(chute_request *request) {
    if (!request->stream) return false;
    pthread_mutex_lock(&request->lock);
    bool roomy = is_roomy(&request->flow);
    if (roomy) request->flow.resting = false;
    pthread_mutex_unlock(&request->lock);
    return roomy;
}

/* An answer that did not flow, as from chdb, is there once it is done. */
static void begin_flow(chute_request *request) {
    request->flow.begun = true;
    request->flow.text = request->outcome.body;
    request->outcome.body = (chute_text){0};
}

/* What came in order before an error is given before the error is. */
static int take_locked(chute_request *request, chute_error *err) {
    struct chute_flow *flow = &request->flow;
    bool failed = request->done && request->error.kind;
    if (request->done && !failed && !flow->begun) begin_flow(request);
    size_t len = chute_flow_ready(flow, request->done && !failed);
    if (len && !chute_flow_take(flow, len))
        return chute_fail(err, CHUTE_E_NOMEM, "no memory for the answer");
    if (len) return 1;
    if (failed && err) *err = request->error;
    return failed ? request->error.kind : request->done ? 2 : 0;
}

int chute_request_take(chute_request *request, const char **data, size_t *len, chute_error *err) {
    if (is_forked(request))
        return chute_fail(err, CHUTE_E_CLOSED, "the request was made before fork()");
    if (!request->stream) return chute_fail(err, CHUTE_E_ARG, "the request is no stream");
    pthread_mutex_lock(&request->lock);
    int code = take_locked(request, err);
    bool roomy = is_roomy(&request->flow);
    pthread_mutex_unlock(&request->lock);
    if (roomy) chute_pool_wake(request->pool);
    *data = request->flow.taken.at;
    *len = request->flow.taken.len;
    return code;
}
