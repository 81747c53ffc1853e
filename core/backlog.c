#include "backlog.h"

#include "aside.h"
#include "error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STEP_MS = 1000, FIRST_PAUSE_MS = 100, MAX_PAUSE_MS = 30000 };
enum { REFUSED_MS = 100 };

/* ---- life ---------------------------------------------------------------------------------- */

int chute_backlog_open(chute_stream *stream, const chute_stream_config *config, chute_error *err) {
    if (!config->spool) return CHUTE_OK;
    if (config->durability > CHUTE_DURABILITY_FSYNC)
        return chute_fail(err, CHUTE_E_ARG, "no such durability");
    struct chute_backlog *backlog = calloc(1, sizeof *backlog);
    if (!backlog) return chute_fail(err, CHUTE_E_NOMEM, "out of memory");
    stream->backlog = backlog;
    chute_queue_init(&backlog->sealing);
    chute_queue_init(&backlog->refused);
    chute_queue_init(&backlog->returned);
    backlog->fsync = config->durability == CHUTE_DURABILITY_FSYNC;
    backlog->fallback = config->spool_fallback != 0;
    backlog->spool = chute_spool_open(config->spool, err);
    if (!backlog->spool) return CHUTE_E_SPOOL;
    backlog->recovery.root = backlog->spool->root;
    return CHUTE_OK;
}

static void free_queue(struct chute_batch_queue *queue) {
    for (chute_batch *batch; (batch = chute_queue_pop(queue));) chute_batch_free(batch);
}

static void free_found(chute_found *found) {
    while (found) {
        chute_found *next = found->next;
        free(found);
        found = next;
    }
}

/* What the pool gave back last, with nobody left to count it. */
static void settle_leftovers(struct chute_backlog *backlog) {
    for (chute_batch *batch; (batch = chute_queue_pop(&backlog->returned));) {
        if (batch->error.kind == CHUTE_OK)
            chute_recovery_finish(&backlog->recovery, batch->found);
        else
            free(batch->found);
        chute_batch_free(batch);
    }
}

void chute_backlog_close(struct chute_backlog *backlog) {
    if (!backlog) return;
    settle_leftovers(backlog);
    free_queue(&backlog->sealing);
    free_queue(&backlog->refused);
    free_found(backlog->found);
    free_found(backlog->discarded);
    chute_recovery_end(&backlog->recovery);
    chute_spool_close(backlog->spool);
    free(backlog);
}

/* A lock lives as long as any process has the descriptor. */
static void forget_lock(struct chute_folder *folder) {
    if (folder->lock >= 0) close(folder->lock);
    folder->lock = -1;
}

void chute_backlog_orphan(struct chute_backlog *backlog) {
    if (!backlog) return;
    forget_lock(&backlog->spool->folder);
    for (struct chute_orphan *at = backlog->recovery.orphans; at; at = at->next)
        forget_lock(&at->folder);
}

/* ---- slots --------------------------------------------------------------------------------- */

/* A spool that has just refused is not asked again at every row. */
static bool is_refusing(chute_stream *stream, chute_error *err) {
    struct chute_backlog *backlog = stream->backlog;
    chute_stream_lock(stream);
    bool refusing = chute_stream_now() < backlog->refused_until;
    if (refusing && err) *err = backlog->refusal;
    chute_stream_unlock(stream);
    return refusing;
}

chute_spool_slot *chute_backlog_slot(chute_stream *stream, size_t warm, chute_error *err) {
    struct chute_backlog *backlog = stream->backlog;
    chute_error why;
    if (is_refusing(stream, err)) return NULL;
    chute_spool_slot *slot = chute_slot_new(backlog->spool, stream->schema, stream->insert,
                                            stream->max_bytes, warm, &why);
    if (slot) return slot;
    chute_stream_lock(stream);
    backlog->refused_until = chute_stream_now() + REFUSED_MS;
    backlog->refusal = why;
    chute_stream_unlock(stream);
    if (err) *err = why;
    return NULL;
}

/* ---- what comes back from the pool --------------------------------------------------------- */

/* Whether the pool had its last word: it sends again what may succeed, as long as the policy lets
 * it and nobody closes it. */
bool chute_backlog_is_final(const chute_batch *batch) {
    int kind = batch->error.kind;
    return kind != CHUTE_E_CLOSED && kind != CHUTE_E_NOMEM && kind != CHUTE_E_SYSTEM;
}

/* Batches that fail together make one pause. */
void chute_backlog_pause(struct chute_backlog *backlog) {
    uint64_t now = chute_stream_now();
    if (now < backlog->retry_at) return;
    uint32_t pause = backlog->pause_ms ? backlog->pause_ms * 2 : FIRST_PAUSE_MS;
    if (pause > MAX_PAUSE_MS) pause = MAX_PAUSE_MS;
    uint64_t jitter = (now + (uintptr_t)backlog / 64) * 2654435761u % (pause / 2);
    backlog->pause_ms = pause;
    backlog->retry_at = now + pause / 2 + jitter;
}

static uint64_t order(const chute_batch *batch) {
    return batch->slot ? batch->slot->header.sequence : 0;
}

static void queue_again(struct chute_batch_queue *queue, chute_batch *batch) {
    chute_batch **at = &queue->first;
    while (*at && order(*at) < order(batch)) at = &(*at)->next;
    batch->next = *at;
    *at = batch;
    if (!batch->next) queue->last = &batch->next;
}

void chute_backlog_drop_out(struct chute_backlog *backlog, chute_found *found) {
    chute_found **at = &backlog->out;
    while (*at != found) at = &(*at)->next_out;
    *at = found->next_out;
    found->batch = NULL;
    backlog->found_out--;
}

static void take_back_own(chute_stream *stream, chute_batch *batch) {
    if (!batch->aside) stream->in_pool--;
    batch->aside = false;
    free(batch->body);
    batch->body = NULL;
    if (chute_backlog_is_final(batch)) {
        chute_queue_push(&stream->backlog->refused, batch);
        return;
    }
    queue_again(&stream->waiting, batch);
}

bool chute_backlog_take_back(chute_stream *stream, chute_batch *batch) {
    struct chute_backlog *backlog = stream->backlog;
    bool acked = batch->error.kind == CHUTE_OK;
    chute_stream_lock(stream);
    if (acked)
        backlog->pause_ms = 0;
    else if (!chute_backlog_is_final(batch))
        chute_backlog_pause(backlog);
    if (batch->found) {
        chute_backlog_drop_out(backlog, batch->found);
        chute_queue_push(&backlog->returned, batch);
    } else if (!acked) {
        take_back_own(stream, batch);
    } else if (!batch->slot) {
        stream->stats.unspooled -= batch->rows;
    }
    chute_stream_unlock(stream);
    if (batch->found || !acked) return true;
    if (batch->slot) chute_slot_release(batch->slot);
    return false;
}

/* ---- sealing ------------------------------------------------------------------------------- */

static chute_batch *pop(chute_stream *stream, struct chute_batch_queue *queue) {
    chute_stream_lock(stream);
    chute_batch *batch = chute_queue_pop(queue);
    chute_stream_unlock(stream);
    return batch;
}

/* A batch that could not be synced goes on nevertheless: chute_stream_sync tells. */
static void finish_seals(chute_stream *stream) {
    struct chute_backlog *backlog = stream->backlog;
    for (chute_batch *batch; (batch = pop(stream, &backlog->sealing));) {
        if (batch->slot) {
            chute_slot_seal(batch->slot);
            if (backlog->fsync) chute_spool_sync(backlog->spool, NULL);
        }
        chute_stream_lock(stream);
        if (!batch->slot) stream->stats.unspooled += batch->rows;
        chute_queue_push(&stream->waiting, batch);
        chute_stream_unlock(stream);
    }
}

/* Rows of the open batch, for the case that the machine ends before it is sealed. */
static void step_open(chute_stream *stream) {
    struct chute_backlog *backlog = stream->backlog;
    chute_stream_lock(stream);
    chute_batch *open = stream->open;
    backlog->stepping = open;
    chute_stream_unlock(stream);
    if (open && open->slot) chute_slot_step(open->slot);
    chute_stream_lock(stream);
    backlog->stepping = NULL;
    chute_stream_unlock(stream);
}

/* ---- syncing ------------------------------------------------------------------------------- */

static uint64_t sync_wanted(chute_stream *stream) {
    pthread_mutex_lock(&stream->mutex);
    uint64_t wanted = stream->backlog->sync_wanted;
    pthread_mutex_unlock(&stream->mutex);
    return wanted;
}

static int sync_all(chute_stream *stream, chute_error *err) {
    int rc = chute_spool_sync(stream->backlog->spool, err);
    chute_stream_lock(stream);
    uint64_t unspooled = stream->stats.unspooled;
    chute_stream_unlock(stream);
    if (rc != CHUTE_OK || unspooled == 0) return rc;
    return chute_fail(err, CHUTE_E_SPOOL, "%llu rows are in memory, as the spool refused them",
                      (unsigned long long)unspooled);
}

static void sync_if_wanted(chute_stream *stream, uint64_t wanted) {
    struct chute_backlog *backlog = stream->backlog;
    if (wanted == backlog->sync_done) return;
    chute_error err = {0};
    int rc = sync_all(stream, &err);
    pthread_mutex_lock(&stream->mutex);
    backlog->sync_done = wanted;
    backlog->sync_result = rc;
    backlog->sync_error = err;
    pthread_cond_broadcast(&stream->changed);
    pthread_mutex_unlock(&stream->mutex);
}

static int sync_outcome(const struct chute_backlog *backlog, uint64_t wanted, chute_error *err) {
    if (backlog->sync_done < wanted)
        return chute_fail(err, CHUTE_E_TIMEOUT, "the disk has not taken all of it in time");
    if (backlog->sync_result != CHUTE_OK && err) *err = backlog->sync_error;
    return backlog->sync_result;
}

int chute_stream_sync(chute_stream *stream, uint32_t timeout_ms, chute_error *err) {
    if (stream->forked)
        return chute_fail(err, CHUTE_E_CLOSED, "the stream was opened before fork()");
    struct chute_backlog *backlog = stream->backlog;
    if (!backlog) return chute_fail(err, CHUTE_E_SPOOL, "the stream has no spool to sync");
    int flushed = chute_stream_flush(stream, err);
    if (flushed != CHUTE_OK) return flushed;
    uint64_t until_ms = chute_stream_now() + timeout_ms;
    struct timespec until = {.tv_sec = (time_t)(until_ms / 1000),
                             .tv_nsec = (long)(until_ms % 1000) * 1000000};
    int waited = 0;
    pthread_mutex_lock(&stream->mutex);
    uint64_t wanted = ++backlog->sync_wanted;
    stream->kicks++;
    pthread_cond_signal(&stream->wake);
    while (backlog->sync_done < wanted && waited == 0)
        waited = pthread_cond_timedwait(&stream->changed, &stream->mutex, &until);
    int rc = sync_outcome(backlog, wanted, err);
    pthread_mutex_unlock(&stream->mutex);
    return rc;
}

/* ---- what the server refused --------------------------------------------------------------- */

void chute_backlog_count_parked(chute_stream *stream, uint64_t rows, const chute_error *why) {
    chute_stream_lock(stream);
    stream->stats.pending -= rows;
    stream->stats.parked += rows;
    stream->stats.batches_parked++;
    stream->stats.batches_in_flight--;
    stream->last_error = *why;
    stream->failed++;
    stream->results = true;
    chute_stream_unlock(stream);
}

/* It stays within reach of retry_parked. Where the disk does not let it be moved, the file stays,
 * to be refused again by another day. */
static void bury(chute_stream *stream, chute_batch *batch) {
    if (batch->slot) chute_slot_bury(batch->slot, batch, NULL);
    chute_backlog_count_parked(stream, batch->rows, &batch->error);
    chute_stream_lock(stream);
    chute_queue_push(&stream->parked, batch);
    chute_stream_unlock(stream);
}

chute_batch *chute_backlog_oldest(chute_stream *stream) {
    struct chute_backlog *backlog = stream->backlog;
    chute_batch *batch = chute_queue_pop(&stream->waiting);
    if (batch || backlog->sealing.first == backlog->stepping) return batch;
    return chute_queue_pop(&backlog->sealing);
}

/* ---- the flusher's turn -------------------------------------------------------------------- */

bool chute_backlog_holds(const chute_stream *stream) {
    const struct chute_backlog *backlog = stream->backlog;
    return backlog && (stream->waiting.first || chute_stream_now() < backlog->retry_at ||
                       stream->stats.batches_in_flight - backlog->found_count >= stream->window);
}

void chute_backlog_give_up(chute_stream *stream) {
    struct chute_backlog *backlog = stream->backlog;
    chute_stream_lock(stream);
    backlog->leaving = true;
    for (chute_found *found = backlog->out; found; found = found->next_out)
        if (found->batch) atomic_store(&found->batch->insert->given_up, true);
    chute_stream_unlock(stream);
    chute_stream_give_up(stream);
}

void chute_backlog_turn(chute_stream *stream) {
    struct chute_backlog *backlog = stream->backlog;
    uint64_t wanted = sync_wanted(stream);
    finish_seals(stream);
    step_open(stream);
    for (chute_batch *batch; (batch = pop(stream, &backlog->returned));)
        chute_backlog_settle(stream, batch);
    for (chute_batch *batch; (batch = pop(stream, &backlog->refused));) bury(stream, batch);
    chute_backlog_discard(stream);
    sync_if_wanted(stream, wanted);
    chute_backlog_look(stream);
    pthread_mutex_lock(&stream->mutex);
    pthread_cond_broadcast(&stream->changed);
    pthread_mutex_unlock(&stream->mutex);
}

uint64_t chute_backlog_deadline(chute_stream *stream) {
    const struct chute_backlog *backlog = stream->backlog;
    uint64_t now = chute_stream_now(), deadline = UINT64_MAX;
    chute_stream_lock(stream);
    bool waits = stream->waiting.first || backlog->found;
    if (!stream->shut) deadline = backlog->look_at;
    if (waits && backlog->retry_at > now && backlog->retry_at < deadline)
        deadline = backlog->retry_at;
    if (stream->open && chute_buffer_rows(stream->open->buffer) > 0 && now + STEP_MS < deadline)
        deadline = now + STEP_MS;
    chute_stream_unlock(stream);
    return deadline;
}
