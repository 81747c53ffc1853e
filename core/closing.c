/* closing: how a stream comes to its end. */
#include "backlog.h"
#include "registry.h"
#include "schema.h"

#include <stdlib.h>
#include <time.h>

enum { LEAVE_WAITS = 200, LEAVE_NS = 5000000 };

static void free_batches(chute_batch *batch) {
    while (batch) {
        chute_batch *next = batch->next;
        chute_batch_free(batch);
        batch = next;
    }
}

/* Those that have rows in the spool leave them there. */
static void drop_batches(chute_stream *stream) {
    struct chute_batch_queue *const queues[] = {&stream->waiting, &stream->parked, &stream->spent,
                                                &stream->stale};
    for (size_t i = 0; i < sizeof queues / sizeof *queues; i++) {
        free_batches(queues[i]->first);
        chute_queue_init(queues[i]);
    }
    free_batches(stream->spare);
    chute_batch_free(stream->open);
    chute_backlog_close(stream->backlog);
    stream->spare = stream->open = NULL;
    stream->backlog = NULL;
}

void chute_stream_destroy(chute_stream *stream) {
    drop_batches(stream);
    chute_insert_free(stream->insert);
    chute_schema_free(stream->schema);
    pthread_mutex_destroy(&stream->mutex);
    pthread_cond_destroy(&stream->wake);
    pthread_cond_destroy(&stream->changed);
    free(stream);
}

void chute_stream_shut(chute_stream *stream) {
    chute_stream_lock(stream);
    stream->shut = true;
    if (stream->open && chute_buffer_rows(stream->open->buffer) > 0) chute_stream_seal(stream);
    chute_stream_unlock(stream);
    chute_stream_kick(stream);
}

void chute_stream_give_up(chute_stream *stream) {
    if (stream->forked) return;
    atomic_store(&stream->insert->given_up, true);
    chute_pool_wake(stream->pool);
}

void chute_stream_orphan(chute_stream *stream) {
    atomic_store(&stream->busy, false);
    chute_stream_init_locks(stream);
    stream->shut = stream->departed = stream->forked = true;
    stream->stats.batches_in_flight = 0;
    chute_backlog_orphan(stream->backlog);
}

void chute_stream_depart(chute_stream *stream) {
    if (stream->departed) return;
    pthread_mutex_lock(&stream->mutex);
    stream->stop = true;
    pthread_cond_signal(&stream->wake);
    pthread_mutex_unlock(&stream->mutex);
    pthread_join(stream->flusher, NULL);
    chute_pool_close(stream->pool);
    chute_stream_lock(stream);
    stream->departed = true;
    chute_stream_unlock(stream);
}

/* Batches that rest come back at once, those under way when they are through: a shared pool that
 * still has some then keeps the folder for the stream. */
void chute_stream_leave(chute_stream *stream) {
    struct chute_backlog *backlog = stream->backlog;
    if (stream->departed) return;
    if (backlog) chute_backlog_give_up(stream);
    chute_stream_depart(stream);
    int waits = backlog ? LEAVE_WAITS : 0;
    for (; waits > 0 && atomic_load(&stream->refs) > 1; waits--)
        nanosleep(&(struct timespec){.tv_nsec = LEAVE_NS}, NULL);
    if (backlog) chute_backlog_turn(stream);
    if (atomic_load(&stream->refs) == 1) drop_batches(stream);
}

void chute_stream_release(chute_stream *stream) {
    if (atomic_fetch_sub_explicit(&stream->refs, 1, memory_order_acq_rel) == 1)
        chute_stream_destroy(stream);
}

void chute_stream_free(chute_stream *stream) {
    if (!stream) return;
    chute_stream_shut(stream);
    chute_registry_leave(stream);
}
