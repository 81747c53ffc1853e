/* spare: the batches that a stream opens next: used ones made as new, else new ones. */
#include "backlog.h"

static chute_buffer *new_buffer(chute_stream *stream, const chute_spool_slot *slot, size_t warm,
                                chute_error *err) {
    if (slot) return chute_buffer_new_in(stream->schema, &slot->memory, stream->max_bytes, err);
    return chute_buffer_new_warm(stream->schema, stream->max_bytes, warm, err);
}

static chute_batch *new_batch(chute_stream *stream, size_t warm, chute_error *err) {
    chute_spool_slot *slot = stream->backlog ? chute_backlog_slot(stream, warm, err) : NULL;
    if (stream->backlog && !slot && !stream->backlog->fallback) return NULL;
    chute_buffer *buffer = new_buffer(stream, slot, warm, err);
    chute_batch *batch = buffer ? chute_batch_new(buffer, stream->insert, err) : NULL;
    if (!batch) {
        chute_buffer_free(buffer);
        chute_slot_free(slot);
        return NULL;
    }
    batch->slot = slot;
    if (slot) chute_slot_open(slot, batch->token);
    batch->owner = stream;
    batch->done = chute_stream_batch_done;
    batch->retried = chute_stream_batch_retried;
    return batch;
}

static chute_batch *pop_spent(chute_stream *stream, size_t *warm) {
    chute_stream_lock(stream);
    chute_batch *batch = chute_queue_pop(&stream->spent);
    *warm = stream->warm;
    chute_stream_unlock(stream);
    return batch;
}

/* Memory is no good where the spool may have room again. */
static bool is_fit(const chute_stream *stream, const chute_batch *batch) {
    if (!batch->slot) return !stream->backlog;
    return !batch->slot->dead && chute_slot_is_there(batch->slot);
}

/* Not freed here: the flusher may be at work on its slot. */
static void push_stale(chute_stream *stream, chute_batch *batch) {
    chute_stream_lock(stream);
    chute_queue_push(&stream->stale, batch);
    chute_stream_unlock(stream);
}

chute_batch *chute_stream_ready_batch(chute_stream *stream, chute_error *err) {
    size_t warm;
    for (chute_batch *spent; (spent = pop_spent(stream, &warm)); push_stale(stream, spent))
        if (is_fit(stream, spent) && chute_batch_renew(spent) == CHUTE_OK) return spent;
    return new_batch(stream, warm, err);
}

void chute_stream_push_spare(chute_stream *stream, chute_batch *batch) {
    chute_stream_lock(stream);
    batch->next = stream->spare;
    stream->spare = batch;
    chute_stream_unlock(stream);
}
