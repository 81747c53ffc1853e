/* parked: the batches of a stream that could not be delivered, kept in memory. */
#include "stream.h"

#include <stdlib.h>
#include <string.h>

int chute_stream_parked(chute_stream *stream, uint64_t which, chute_parked *out) {
    chute_stream_lock(stream);
    const chute_batch *batch = stream->parked.first;
    while (batch && which--) batch = batch->next;
    if (batch) {
        *out = (chute_parked){.rows = batch->rows,
                              .bytes = batch->bytes,
                              .attempts = batch->attempts,
                              .error = batch->error};
        memcpy(out->token, batch->token, sizeof batch->token);
    }
    chute_stream_unlock(stream);
    return batch != NULL;
}

static void unpark(chute_stream *stream, chute_batch *batch) {
    free(batch->body);
    batch->body = NULL;
    batch->aside = false;
    batch->error.kind = CHUTE_OK;
    stream->stats.parked -= batch->rows;
    stream->stats.pending += batch->rows;
    stream->stats.batches_parked--;
    stream->stats.batches_in_flight++;
    chute_queue_push(&stream->waiting, batch);
}

uint64_t chute_stream_retry_parked(chute_stream *stream) {
    uint64_t count = 0;
    chute_stream_lock(stream);
    for (chute_batch *batch; !stream->shut && (batch = chute_queue_pop(&stream->parked)); count++)
        unpark(stream, batch);
    chute_stream_unlock(stream);
    if (count) chute_stream_kick(stream);
    return count;
}
