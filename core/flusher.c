/* flusher: a stream's own thread. It seals the open batch when it is old, hands sealed batches to
 * the pool, and keeps a spare batch ready, its memory faulted in. */
#include "backlog.h"
#include "registry.h"

#include <time.h>

static const uint64_t NEVER = UINT64_MAX;

static void seal_if_old(chute_stream *stream) {
    chute_stream_lock(stream);
    if (stream->open && chute_buffer_rows(stream->open->buffer) > 0 &&
        !chute_backlog_holds(stream) && chute_stream_now() >= stream->open_since + stream->age_ms)
        chute_stream_seal(stream);
    chute_stream_unlock(stream);
}

static chute_batch *next_for_pool(chute_stream *stream) {
    chute_batch *batch = NULL;
    chute_stream_lock(stream);
    bool pause = stream->backlog &&
                 (stream->backlog->leaving || chute_stream_now() < stream->backlog->retry_at);
    if (stream->in_pool < stream->window && !pause) batch = chute_queue_pop(&stream->waiting);
    if (batch) stream->in_pool++;
    chute_stream_unlock(stream);
    return batch;
}

static void feed_pool(chute_stream *stream) {
    for (chute_batch *batch; (batch = next_for_pool(stream));) {
        atomic_fetch_add_explicit(&stream->refs, 1, memory_order_relaxed);
        chute_pool_submit(stream->pool, batch);
    }
}

/* What a backlog filled is not needed once it is gone: a batch each for the pool, and one on the
 * way, are enough. */
static void shed_spent(chute_stream *stream) {
    chute_stream_lock(stream);
    chute_batch *at = stream->spent.first;
    for (uint32_t i = 0; at && i < stream->window; i++) at = at->next;
    chute_batch *rest = at ? at->next : NULL;
    if (rest) {
        at->next = NULL;
        stream->spent.last = &at->next;
    }
    while (rest) {
        chute_batch *next = rest->next;
        chute_queue_push(&stream->stale, rest);
        rest = next;
    }
    chute_stream_unlock(stream);
}

static void free_stale(chute_stream *stream) {
    chute_batch *batch;
    if (stream->backlog) shed_spent(stream);
    do {
        chute_stream_lock(stream);
        batch = chute_queue_pop(&stream->stale);
        chute_stream_unlock(stream);
        chute_batch_free(batch);
    } while (batch);
}

/* Out of memory is no matter here: insert tries by itself, and tells. */
static void keep_spare(chute_stream *stream) {
    chute_stream_lock(stream);
    bool wanted = !stream->spare && !stream->shut;
    chute_stream_unlock(stream);
    chute_batch *batch = wanted ? chute_stream_ready_batch(stream, NULL) : NULL;
    if (batch) chute_stream_push_spare(stream, batch);
}

/* When the open batch will be old. */
static uint64_t next_deadline(chute_stream *stream) {
    chute_stream_lock(stream);
    bool rows = stream->open && chute_buffer_rows(stream->open->buffer) > 0;
    bool ages = rows && !chute_backlog_holds(stream);
    uint64_t deadline = ages ? stream->open_since + stream->age_ms : NEVER;
    atomic_store_explicit(&stream->next_look, deadline, memory_order_relaxed);
    chute_stream_unlock(stream);
    uint64_t other = stream->backlog ? chute_backlog_deadline(stream) : NEVER;
    return other < deadline ? other : deadline;
}

/* Sleeps till the deadline or a kick; false when it is to stop. */
static bool sleep_till(chute_stream *stream, uint64_t deadline, uint64_t *seen) {
    struct timespec until = {.tv_sec = (time_t)(deadline / 1000),
                             .tv_nsec = (long)(deadline % 1000) * 1000000};
    int rc = 0;
    pthread_mutex_lock(&stream->mutex);
    while (stream->kicks == *seen && !stream->stop && rc == 0)
        rc = deadline == NEVER ? pthread_cond_wait(&stream->wake, &stream->mutex)
                               : pthread_cond_timedwait(&stream->wake, &stream->mutex, &until);
    *seen = stream->kicks;
    bool go_on = !stream->stop;
    pthread_mutex_unlock(&stream->mutex);
    return go_on;
}

/* Its owner is gone, and there is nothing left to do for it. */
static bool is_over(chute_stream *stream) {
    chute_stream_lock(stream);
    bool over = stream->left && stream->stats.batches_in_flight == 0;
    chute_stream_unlock(stream);
    return over;
}

void *chute_flusher_run(void *argument) {
    chute_stream *stream = argument;
    uint64_t seen = 0;
    do {
        seal_if_old(stream);
        if (stream->backlog) chute_backlog_turn(stream);
        feed_pool(stream);
        if (stream->backlog) chute_backlog_feed(stream);
        keep_spare(stream);
        free_stale(stream);
        if (is_over(stream)) {
            chute_registry_bury(stream);
            break;
        }
    } while (sleep_till(stream, next_deadline(stream), &seen));
    return NULL;
}
