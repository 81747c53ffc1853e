/* packer: the thread that compresses bodies, each whole and at once. */
#include "pool.h"

#include "clock.h"
#include "compress.h"
#include "error.h"

#include <stdlib.h>
#include <string.h>

enum { KINDS = 8 };

/* Compressors in use lately, the latest first. */
struct packer {
    chute_compressor *kinds[KINDS];
};

static chute_compressor *compressor_for(struct packer *packer, int method, int level,
                                        chute_error *err) {
    size_t at = 0;
    while (at < KINDS - 1 && packer->kinds[at] &&
           !chute_compressor_does(packer->kinds[at], method, level))
        at++;
    chute_compressor *found = packer->kinds[at];
    if (!found || !chute_compressor_does(found, method, level)) {
        chute_compressor_free(found);
        packer->kinds[at] = NULL;
        found = chute_compressor_new(method, level, err);
    }
    if (!found) return NULL;
    memmove(packer->kinds + 1, packer->kinds, at * sizeof *packer->kinds);
    packer->kinds[0] = found;
    return found;
}

/* The compressor keeps its output buffer, made for the worst case; the body gets what it needs. */
static int keep_copy(chute_request *request, const char *bytes, size_t len, chute_error *err) {
    request->packed = malloc(len ? len : 1);
    if (!request->packed)
        return chute_fail(err, CHUTE_E_NOMEM, "no memory for a body of %zu bytes", len);
    if (len) memcpy(request->packed, bytes, len);
    request->packed_len = len;
    return 0;
}

static int pack(struct packer *packer, chute_request *request, chute_error *err) {
    chute_compressor *compressor =
        compressor_for(packer, request->compression, request->level, err);
    const char *packed;
    size_t len, head = request->sql_first ? request->sql_len + 1 : 0;
    if (!compressor) return err ? err->kind : CHUTE_E_NOMEM;
    int failed = chute_compress_after(compressor, request->sql, head, request->rows,
                                      request->rows_len, &packed, &len, err);
    return failed ? failed : keep_copy(request, packed, len, err);
}

static int pack_timed(chute_pool *pool, struct packer *packer, chute_request *request,
                      chute_error *err) {
    uint64_t began = chute_clock_ms();
    int failed = pack(packer, request, err);
    chute_timer_add(&pool->meter.compress, chute_clock_ms() - began);
    return failed;
}

static void handle(chute_pool *pool, struct packer *packer, chute_request *request) {
    chute_error err = {0};
    if (pool->takes_raw || !request->rows || request->cancelled)
        request->compression = CHUTE_COMPRESS_NONE;
    if (pool->takes_apart) request->sql_first = false;
    if (request->compression != CHUTE_COMPRESS_NONE && pack_timed(pool, packer, request, &err))
        chute_pool_end(request, &err);
    else
        chute_pool_ready(pool, request);
}

static void handle_batch(chute_pool *pool, struct packer *packer, chute_batch *batch) {
    chute_request *request = chute_request_of_batch(batch, &batch->error);
    if (!request) {
        batch->done(batch);
        return;
    }
    request->pool = pool;
    handle(pool, packer, request);
}

/* Waits for work, a query or a batch, in turns. False: the pool closes. */
static bool take(chute_pool *pool, chute_request **query, chute_batch **batch) {
    pthread_mutex_lock(&pool->lock);
    while (!pool->closing && !pool->queries.first && !pool->batches.first)
        pthread_cond_wait(&pool->packer_wake, &pool->lock);
    bool open = !pool->closing;
    *batch =
        open && (pool->batch_next || !pool->queries.first) ? chute_queue_pop(&pool->batches) : NULL;
    *query = open && !*batch ? chute_request_pop(&pool->queries) : NULL;
    pool->batch_next = !*batch;
    pthread_mutex_unlock(&pool->lock);
    return open;
}

void *chute_packer_run(void *arg) {
    chute_pool *pool = arg;
    struct packer packer = {0};
    chute_request *query;
    chute_batch *batch;
    while (take(pool, &query, &batch))
        if (query)
            handle(pool, &packer, query);
        else
            handle_batch(pool, &packer, batch);
    for (size_t i = 0; i < KINDS; i++) chute_compressor_free(packer.kinds[i]);
    chute_pool_thread_ends(pool);
    return NULL;
}
