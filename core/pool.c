#include "pool.h"

#include "clock.h"
#include "error.h"
#include "process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SIZE = 4,
    SIZE_MAX_POOL = 1024,
    CONNECT_MS = 5000,
    TIMEOUT_MS = 300000,
    STALL_MS = 30000,
    HOSTS_MAX = 256
};

/* ---- waking ------------------------------------------------------------------------------- */

/* Wakes the I/O thread. Under the pool's lock: the transport may be closed next. */
static void wake_sender(chute_pool *pool) {
    pthread_cond_signal(&pool->sender_wake);
    if (pool->transport && pool->transport->ops->wake) pool->transport->ops->wake(pool->transport);
}

void chute_pool_ready(chute_pool *pool, chute_request *request) {
    request->ready_ms = chute_clock_ms();
    pthread_mutex_lock(&pool->lock);
    int which = request->insert ? CHUTE_READY_INSERTS : CHUTE_READY_QUERIES;
    chute_request_push(&pool->ready[which], request);
    wake_sender(pool);
    pthread_mutex_unlock(&pool->lock);
}

void chute_pool_wake(chute_pool *pool) {
    if (pool->generation != chute_process_generation()) return;
    pthread_mutex_lock(&pool->lock);
    wake_sender(pool);
    pthread_mutex_unlock(&pool->lock);
}

void chute_pool_end(chute_request *request, const chute_error *err) {
    if (err) request->error = *err;
    chute_request_finish(request);
    chute_request_release(request);
}

/* ---- life --------------------------------------------------------------------------------- */

static void release_hold(chute_pool *pool) {
    if (atomic_fetch_sub(&pool->holds, 1) != 1) return;
    if (pool->transport) pool->transport->ops->close(pool->transport);
    pthread_mutex_destroy(&pool->lock);
    pthread_cond_destroy(&pool->packer_wake);
    pthread_cond_destroy(&pool->sender_wake);
    for (uint32_t i = 0; i < pool->hosts.count; i++) chute_url_clear(&pool->hosts.at[i].url);
    free(pool->hosts.at);
    chute_access_clear(&pool->access);
    free(pool);
}

static void end_leftovers(chute_pool *pool) {
    chute_error err;
    chute_request *request;
    chute_fail(&err, CHUTE_E_CLOSED, "the pool was closed before the request was sent");
    err.flags = CHUTE_RETRYABLE;
    while ((request = chute_request_pop(&pool->queries)) ||
           (request = chute_request_pop(&pool->ready[CHUTE_READY_QUERIES])) ||
           (request = chute_request_pop(&pool->ready[CHUTE_READY_INSERTS])))
        chute_pool_end(request, &err);
    for (chute_batch *batch; (batch = chute_queue_pop(&pool->batches));) {
        batch->error = err;
        batch->done(batch);
    }
}

void chute_pool_thread_ends(chute_pool *pool) {
    if (atomic_fetch_sub(&pool->running, 1) == 1) end_leftovers(pool);
    release_hold(pool);
}

static bool start_thread(chute_pool *pool, pthread_t *thread, void *(*run)(void *),
                         const char *name) {
    atomic_fetch_add(&pool->holds, 1);
    atomic_fetch_add(&pool->running, 1);
    if (chute_process_start(thread, run, pool, name) == 0) return true;
    atomic_fetch_sub(&pool->running, 1);
    atomic_fetch_sub(&pool->holds, 1);
    return false;
}

static bool start_threads(chute_pool *pool, uint32_t compressors) {
    if (!start_thread(pool, &pool->sender, chute_sender_run, "chute-io")) return false;
    pool->has_sender = true;
    for (; pool->compressors < compressors; pool->compressors++)
        if (!start_thread(pool, &pool->packers[pool->compressors], chute_packer_run, "chute-zip"))
            return false;
    return true;
}

/* A thread of the pool that closes it (a batch's owner was the last) cannot join itself. */
static bool is_own_thread(const chute_pool *pool) {
    pthread_t self = pthread_self();
    bool own = pool->has_sender && pthread_equal(self, pool->sender);
    for (uint32_t i = 0; i < pool->compressors; i++)
        own = own || pthread_equal(self, pool->packers[i]);
    return own;
}

static void shut(chute_pool *pool) {
    int (*const end)(pthread_t) = is_own_thread(pool) ? pthread_detach : NULL;
    pthread_mutex_lock(&pool->lock);
    pool->closing = true;
    pthread_cond_broadcast(&pool->packer_wake);
    wake_sender(pool);
    pthread_mutex_unlock(&pool->lock);
    for (uint32_t i = 0; i < pool->compressors; i++)
        end ? end(pool->packers[i]) : pthread_join(pool->packers[i], NULL);
    if (pool->has_sender) end ? end(pool->sender) : pthread_join(pool->sender, NULL);
    release_hold(pool);
}

/* ---- opening ------------------------------------------------------------------------------ */

/* Puts an option in the place of what the URL says. False: no memory. */
static bool override(char **text, const char *option) {
    if (!option) return true;
    free(*text);
    return (*text = strdup(option)) != NULL;
}

static bool has_control(const char *text) {
    for (; text && *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7F) return true;
    return false;
}

static int read_url(chute_url *url, const char *text, const chute_pool_config *config,
                    chute_error *err) {
    if (chute_url_parse(text, url, err)) return CHUTE_E_ARG;
    if (!override(&url->user, config->user) || !override(&url->password, config->password) ||
        !override(&url->database, config->database) ||
        !chute_url_add_settings(url, config->settings, config->settings_count))
        return chute_fail(err, CHUTE_E_NOMEM, "no memory for a pool");
    if (has_control(url->user) || has_control(url->password))
        return chute_fail(err, CHUTE_E_ARG, "a control character in the user or password");
    return 0;
}

static bool is_http(const chute_host *host) {
    return host->url.scheme != CHUTE_URL_CHDB && host->url.scheme != CHUTE_URL_FILE;
}

static int read_hosts(chute_pool *pool, const chute_pool_config *config, chute_error *err) {
    struct chute_hosts *hosts = &pool->hosts;
    const char *const *urls = config->urls_count ? config->urls : &config->url;
    size_t count = config->urls_count ? config->urls_count : 1;
    if (!urls[0]) return chute_fail(err, CHUTE_E_ARG, "a pool needs a url");
    hosts->at = calloc(count, sizeof *hosts->at);
    if (!hosts->at) return chute_fail(err, CHUTE_E_NOMEM, "no memory for a pool");
    hosts->strategy = config->strategy;
    while (hosts->count < count) {
        chute_host *host = &hosts->at[hosts->count++];
        int failed = read_url(&host->url, urls[hosts->count - 1], config, err);
        if (failed) return failed;
        if (count > 1 && !is_http(host))
            return chute_fail(err, CHUTE_E_ARG, "%s cannot be one of several hosts",
                              host->url.place);
    }
    return 0;
}

static int check_config(const chute_pool_config *config, chute_error *err) {
    if (config->size > SIZE_MAX_POOL)
        return chute_fail(err, CHUTE_E_ARG, "a pool has at most %d connections", SIZE_MAX_POOL);
    if (config->compressors > CHUTE_COMPRESSORS_MAX)
        return chute_fail(err, CHUTE_E_ARG, "a pool has at most %d compressors",
                          CHUTE_COMPRESSORS_MAX);
    if (config->urls_count > HOSTS_MAX)
        return chute_fail(err, CHUTE_E_ARG, "a pool has at most %d hosts", HOSTS_MAX);
    if (config->strategy > CHUTE_HOSTS_LEAST_BUSY)
        return chute_fail(err, CHUTE_E_ARG, "no such strategy");
    return 0;
}

static int open_transport(chute_pool *pool, const chute_pool_config *config, chute_error *err) {
    struct chute_transport_config c = {
        .libchdb = config->libchdb,
        .size = config->size ? config->size : SIZE,
        .connect_ms = config->connect_ms ? config->connect_ms : CONNECT_MS,
        .timeout_ms = config->timeout_ms ? config->timeout_ms : TIMEOUT_MS,
        .stall_ms = config->stall_ms ? config->stall_ms : STALL_MS,
        .access = &pool->access,
    };
    chute_host *first = pool->hosts.at;
    int scheme = first->url.scheme;
    c.hosts = pool->hosts.count;
    pool->transport = scheme == CHUTE_URL_CHDB   ? chute_chdb_open(first, &c, err)
                      : scheme == CHUTE_URL_FILE ? chute_file_open(first, &c, err)
                                                 : chute_http_open(&c, err);
    if (!pool->transport) return -1;
    first->lasting = first->met;
    pool->takes_raw = pool->transport->takes_raw;
    pool->takes_apart = pool->transport->takes_apart;
    pool->no_queries = pool->transport->no_queries;
    pool->at_once = pool->transport->at_once;
    return 0;
}

static chute_pool *make(void) {
    pthread_condattr_t attr;
    chute_pool *pool = calloc(1, sizeof *pool);
    if (!pool) return NULL;
    pool->generation = chute_process_generation();
    chute_queue_init(&pool->batches);
    atomic_init(&pool->refs, 1);
    atomic_init(&pool->holds, 1);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->packer_wake, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&pool->sender_wake, &attr);
    pthread_condattr_destroy(&attr);
    return pool;
}

chute_pool *chute_pool_open(const chute_pool_config *config, chute_error *err) {
    if (check_config(config, err)) return NULL;
    chute_pool *pool = make();
    if (!pool) {
        chute_fail(err, CHUTE_E_NOMEM, "no memory for a pool");
        return NULL;
    }
    if (chute_access_read(&pool->access, config, err) || read_hosts(pool, config, err) ||
        open_transport(pool, config, err)) {
        release_hold(pool);
        return NULL;
    }
    if (start_threads(pool, config->compressors ? config->compressors : 1)) return pool;
    chute_fail(err, CHUTE_E_SYSTEM, "the system gives no thread");
    shut(pool);
    return NULL;
}

/* In a forked child the threads are not there, and the locks may be held for ever. */
static bool is_forked(const chute_pool *pool) {
    return pool->generation != chute_process_generation();
}

static int refuse_forked(chute_error *err) {
    return chute_fail(err, CHUTE_E_CLOSED,
                      "the pool was opened before fork(): open one in each process");
}

chute_pool *chute_pool_keep(chute_pool *pool) {
    atomic_fetch_add(&pool->refs, 1);
    return pool;
}

/* One more than are sent and packed at once, so that no thread waits for the next. */
uint32_t chute_pool_window(const chute_pool *pool) {
    return pool->at_once + pool->compressors + 1;
}

void chute_pool_close(chute_pool *pool) {
    if (!pool || is_forked(pool)) return;
    if (atomic_fetch_sub(&pool->refs, 1) == 1) shut(pool);
}

/* ---- taking requests ---------------------------------------------------------------------- */

static int check_pairs(const chute_pair *pairs, size_t count, const char *what, chute_error *err) {
    for (size_t i = 0; i < count; i++) {
        char shown[CHUTE_QUOTE_MAX];
        if (*pairs[i].name && !has_control(pairs[i].name)) continue;
        return chute_fail(err, CHUTE_E_ARG, "%s has a bad name: %s", what,
                          chute_quote(pairs[i].name, strlen(pairs[i].name), shown, sizeof shown));
    }
    return 0;
}

static bool is_header(const chute_pair *header) {
    return !strpbrk(header->name, ": ") && !has_control(header->value);
}

static int check_settings(const chute_pair *settings, size_t count, chute_error *err) {
    for (size_t i = 0; i < count; i++)
        if (chute_url_is_reserved(settings[i].name) || strcmp(settings[i].name, "database") == 0)
            return chute_fail(err, CHUTE_E_ARG, "%s is no setting", settings[i].name);
    return 0;
}

static int check_query(const chute_query *query, chute_error *err) {
    if (check_pairs(query->settings, query->settings_count, "a setting", err) ||
        check_settings(query->settings, query->settings_count, err) ||
        check_pairs(query->params, query->params_count, "a parameter", err) ||
        check_pairs(query->headers, query->headers_count, "a header", err))
        return CHUTE_E_ARG;
    for (size_t i = 0; i < query->headers_count; i++)
        if (!is_header(&query->headers[i]))
            return chute_fail(err, CHUTE_E_ARG, "header %s: bad bytes in its name or value",
                              query->headers[i].name);
    return 0;
}

static chute_request *hand_over(chute_pool *pool, chute_request *request) {
    request->pool = pool;
    atomic_fetch_add(&pool->holds, 1); /* until the caller frees the request */
    if (!request->rows) {
        chute_pool_ready(pool, request);
        return request;
    }
    pthread_mutex_lock(&pool->lock);
    chute_request_push(&pool->queries, request);
    pthread_cond_signal(&pool->packer_wake);
    pthread_mutex_unlock(&pool->lock);
    return request;
}

chute_request *chute_pool_query(chute_pool *pool, const chute_query *query, chute_error *err) {
    if (is_forked(pool)) {
        refuse_forked(err);
        return NULL;
    }
    if (check_query(query, err)) return NULL;
    chute_request *request = chute_request_new(CHUTE_REQUEST_QUERY, query, err);
    if (!request) return NULL;
    if (request->insert || !pool->no_queries) return hand_over(pool, request);
    chute_fail(err, CHUTE_E_ARG, "%s takes inserts only", pool->hosts.at[0].url.place);
    chute_request_release(request);
    chute_request_release(request);
    return NULL;
}

chute_request *chute_pool_ping(chute_pool *pool, chute_error *err) {
    if (is_forked(pool)) {
        refuse_forked(err);
        return NULL;
    }
    chute_query query = {.sql = "SELECT 1", .sql_len = strlen("SELECT 1")};
    chute_request *request = chute_request_new(CHUTE_REQUEST_PING, &query, err);
    return request ? hand_over(pool, request) : NULL;
}

void chute_pool_submit(chute_pool *pool, chute_batch *batch) {
    batch->next = NULL;
    if (is_forked(pool)) {
        refuse_forked(&batch->error);
        batch->done(batch);
        return;
    }
    pthread_mutex_lock(&pool->lock);
    chute_queue_push(&pool->batches, batch);
    pthread_cond_signal(&pool->packer_wake);
    pthread_mutex_unlock(&pool->lock);
}

/* ---- looking ------------------------------------------------------------------------------ */

void chute_pool_stats_read(chute_pool *pool, chute_pool_stats *out) {
    *out = (chute_pool_stats){.hosts = pool->hosts.count};
    chute_meter_read(&pool->meter, out);
    for (uint32_t i = 0; i < CHUTE_RETRY_REASONS; i++)
        out->retries[i] = atomic_load(&pool->retries[i]);
    for (uint32_t i = 0; i < pool->hosts.count; i++)
        out->hosts_up += !atomic_load(&pool->hosts.at[i].ejected);
}

int chute_pool_host_stats(chute_pool *pool, uint32_t which, chute_host_stats *out) {
    if (which >= pool->hosts.count) return CHUTE_E_ARG;
    const chute_host *host = &pool->hosts.at[which];
    *out = (chute_host_stats){.sent = atomic_load(&host->sent),
                              .failed = atomic_load(&host->failed),
                              .in_flight = atomic_load(&host->in_flight),
                              .up = !atomic_load(&host->ejected)};
    snprintf(out->place, sizeof out->place, "%s", host->url.place);
    return 0;
}

void chute_request_free(chute_request *request) {
    if (!request || request->generation != chute_process_generation()) return;
    chute_pool *pool = request->pool;
    if (!chute_request_is_done(request)) {
        pthread_mutex_lock(&pool->lock);
        request->cancelled = true;
        wake_sender(pool);
        pthread_mutex_unlock(&pool->lock);
    }
    chute_request_release(request);
    release_hold(pool);
}
