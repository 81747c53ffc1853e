/* adopted: what a stream does with the batches that others left. Part of its backlog. */
#include "backlog.h"

enum { LOOK_MS = 2000 };

static void put_found(chute_stream *stream, chute_found *found) {
    chute_found **at = &stream->backlog->found;
    while (*at && ((*at)->opened_ms < found->opened_ms ||
                   ((*at)->opened_ms == found->opened_ms && (*at)->sequence < found->sequence)))
        at = &(*at)->next;
    found->next = *at;
    *at = found;
}

/* Under `busy`. */
static void count_found(chute_stream *stream, chute_found *found) {
    stream->stats.recovered += found->rows;
    stream->stats.pending += found->rows;
    stream->stats.pending_bytes += found->bytes;
    stream->stats.batches_in_flight++;
    stream->backlog->found_count++;
}

void chute_backlog_look(chute_stream *stream) {
    struct chute_backlog *backlog = stream->backlog;
    uint64_t now = chute_stream_now();
    bool done = backlog->recovery.more && backlog->recovery.count == 0;
    if (now < backlog->look_at && !done) return;
    backlog->look_at = now + LOOK_MS;
    uint64_t dead = chute_spool_dead_bytes(backlog->spool);
    chute_stream_lock(stream);
    backlog->dead_bytes = dead;
    uint64_t taken = stream->shut ? stream->max_pending : stream->stats.pending_bytes + dead;
    chute_stream_unlock(stream);
    if (taken >= stream->max_pending) return;
    chute_found *found = chute_recovery_look(&backlog->recovery, stream->max_pending - taken);
    chute_stream_lock(stream);
    for (chute_found *next; found; found = next) {
        next = found->next;
        count_found(stream, found);
        put_found(stream, found);
    }
    chute_stream_unlock(stream);
}

static void count_delivered(chute_stream *stream, const chute_batch *batch) {
    const chute_found *found = batch->found;
    chute_stream_lock(stream);
    stream->stats.pending -= found->rows;
    stream->stats.acked += found->rows;
    stream->stats.batches_acked++;
    stream->stats.batches_in_flight--;
    stream->stats.bytes_raw += batch->bytes;
    stream->stats.bytes_sent += batch->body_len;
    stream->results = true;
    chute_stream_unlock(stream);
}

/* What goes to dead/ is measured there. */
static void count_settled(chute_stream *stream, const chute_found *found) {
    chute_stream_lock(stream);
    stream->backlog->found_count--;
    stream->stats.pending_bytes -= found->bytes;
    chute_stream_unlock(stream);
}

void chute_backlog_settle(chute_stream *stream, chute_batch *batch) {
    struct chute_backlog *backlog = stream->backlog;
    chute_found *found = batch->found;
    if (batch->error.kind == CHUTE_OK) {
        count_settled(stream, found);
        count_delivered(stream, batch);
        chute_recovery_finish(&backlog->recovery, found);
    } else if (chute_backlog_is_final(batch)) {
        count_settled(stream, found);
        chute_backlog_count_parked(stream, found->rows, &batch->error);
        chute_recovery_bury(&backlog->recovery, found, batch, NULL);
    } else {
        chute_stream_lock(stream);
        put_found(stream, found);
        chute_stream_unlock(stream);
    }
    chute_batch_free(batch);
}

void chute_backlog_discard(chute_stream *stream) {
    struct chute_backlog *backlog = stream->backlog;
    chute_stream_lock(stream);
    chute_found *found = backlog->discarded;
    backlog->discarded = NULL;
    chute_stream_unlock(stream);
    for (chute_found *next; found; found = next) {
        next = found->next;
        found->damaged = false;
        chute_recovery_finish(&backlog->recovery, found);
    }
}

bool chute_backlog_drop_found(chute_stream *stream) {
    struct chute_backlog *backlog = stream->backlog;
    chute_found *found = backlog->found;
    if (!found) return false;
    backlog->found = found->next;
    found->next = backlog->discarded;
    backlog->discarded = found;
    stream->stats.dropped += found->rows;
    stream->stats.pending -= found->rows;
    stream->stats.pending_bytes -= found->bytes;
    stream->stats.batches_in_flight--;
    backlog->found_count--;
    return true;
}

/* Fresh rows go first: while any wait, others' batches are sent one at a time. */
static chute_found *next_found(chute_stream *stream) {
    struct chute_backlog *backlog = stream->backlog;
    chute_stream_lock(stream);
    uint32_t most = stream->waiting.first || stream->window < 4 ? 1 : stream->window / 2;
    chute_found *found = backlog->found;
    if (backlog->leaving || backlog->found_out >= most || chute_stream_now() < backlog->retry_at)
        found = NULL;
    if (found) {
        backlog->found = found->next;
        backlog->found_out++;
        found->next_out = backlog->out;
        backlog->out = found;
    }
    chute_stream_unlock(stream);
    return found;
}

/* As if it had not been found yet. */
static void uncount(chute_stream *stream, const chute_found *found) {
    chute_stream_lock(stream);
    stream->stats.recovered -= found->rows;
    stream->stats.pending -= found->rows;
    stream->stats.batches_in_flight--;
    chute_stream_unlock(stream);
}

static void cannot_load(chute_stream *stream, chute_found *found, const chute_error *why) {
    struct chute_backlog *backlog = stream->backlog;
    chute_stream_lock(stream);
    chute_backlog_drop_out(backlog, found);
    chute_stream_unlock(stream);
    count_settled(stream, found);
    if (why->kind == CHUTE_E_NOMEM || (why->flags & CHUTE_RETRYABLE)) {
        uncount(stream, found);
        chute_recovery_put_back(&backlog->recovery, found);
    } else {
        chute_backlog_count_parked(stream, found->rows, why);
        chute_recovery_give_up(&backlog->recovery, found, why->message);
    }
}

void chute_backlog_feed(chute_stream *stream) {
    for (chute_found *found; (found = next_found(stream));) {
        chute_error err = {0};
        chute_batch *batch = chute_recovery_load(found, &err);
        if (!batch) {
            cannot_load(stream, found, &err);
            continue;
        }
        batch->found = found;
        batch->owner = stream;
        batch->done = chute_stream_batch_done;
        batch->retried = chute_stream_batch_retried;
        batch->aside = true;
        batch->insert->retry = stream->insert->retry;
        chute_stream_lock(stream);
        found->batch = batch;
        if (stream->backlog->leaving) atomic_store(&batch->insert->given_up, true);
        chute_stream_unlock(stream);
        atomic_fetch_add_explicit(&stream->refs, 1, memory_order_relaxed);
        chute_pool_submit(stream->pool, batch);
    }
}
