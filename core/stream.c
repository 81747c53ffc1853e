#include "backlog.h"

#include "error.h"
#include "process.h"
#include "registry.h"
#include "schema.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DEFAULT_ROWS = 100000, MAX_ROWS = 1048449, DEFAULT_AGE_MS = 1000, FIRST_WARM = 1 << 16 };
/* A sealed batch keeps its buffer, however few rows it has: so many may be in memory. */
enum { LEAST_HELD = 64, HELD_BYTES = 1 << 16 };

enum { SPINS = 64, NEED_BATCH = 1 };
static const size_t DEFAULT_BYTES = (size_t)8 << 20, DEFAULT_PENDING = (size_t)256 << 20;

uint64_t chute_stream_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* ---- locks --------------------------------------------------------------------------------- */

void chute_stream_lock(chute_stream *stream) {
    for (unsigned spins = 0; atomic_exchange_explicit(&stream->busy, true, memory_order_acquire);)
        if (++spins % SPINS == 0) sched_yield();
}

void chute_stream_unlock(chute_stream *stream) {
    atomic_store_explicit(&stream->busy, false, memory_order_release);
}

void chute_stream_kick(chute_stream *stream) {
    pthread_mutex_lock(&stream->mutex);
    stream->kicks++;
    pthread_cond_signal(&stream->wake);
    pthread_mutex_unlock(&stream->mutex);
}

/* ---- opening ------------------------------------------------------------------------------- */

static int set_policy(chute_stream *stream, const chute_stream_config *config, chute_error *err) {
    if (config->batch_rows > MAX_ROWS)
        return chute_fail(err, CHUTE_E_ARG,
                          "batch.rows is over %d, the most that a server stores as one block",
                          MAX_ROWS);
    if (config->overflow > CHUTE_OVERFLOW_DROP_OLD)
        return chute_fail(err, CHUTE_E_ARG, "no such overflow policy");
    stream->max_rows = config->batch_rows ? config->batch_rows : DEFAULT_ROWS;
    stream->max_bytes = config->batch_bytes ? config->batch_bytes : DEFAULT_BYTES;
    stream->max_pending = config->pending_bytes ? config->pending_bytes : DEFAULT_PENDING;
    if (stream->max_pending < 2)
        return chute_fail(err, CHUTE_E_ARG, "pending.bytes holds no batch");
    if (stream->max_bytes > stream->max_pending / 2) stream->max_bytes = stream->max_pending / 2;
    uint64_t held = stream->max_pending / HELD_BYTES;
    stream->max_held = held < LEAST_HELD   ? LEAST_HELD
                       : held > UINT32_MAX ? UINT32_MAX
                                           : (uint32_t)held;
    stream->age_ms = config->age_ms ? config->age_ms : DEFAULT_AGE_MS;
    stream->overflow = config->overflow;
    stream->warm = stream->max_bytes < FIRST_WARM ? stream->max_bytes : FIRST_WARM;
    return CHUTE_OK;
}

void chute_stream_init_locks(chute_stream *stream) {
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_mutex_init(&stream->mutex, NULL);
    pthread_cond_init(&stream->wake, &attr);
    pthread_cond_init(&stream->changed, &attr);
    pthread_condattr_destroy(&attr);
}

static int start_flusher(chute_stream *stream, chute_error *err) {
    int rc = chute_process_start(&stream->flusher, chute_flusher_run, stream, "chute-flush");
    if (rc != 0) return chute_fail(err, CHUTE_E_SYSTEM, "no thread: %s", strerror(rc));
    return CHUTE_OK;
}

/* A spool that refuses now may not when the first row comes. */
static int open_first(chute_stream *stream, const chute_stream_config *config, chute_error *err) {
    int rc = chute_backlog_open(stream, config, err);
    if (rc != CHUTE_OK) return rc;
    stream->open = chute_stream_ready_batch(stream, err);
    return stream->open || stream->backlog ? CHUTE_OK : CHUTE_E_NOMEM;
}

chute_stream *chute_stream_open(chute_schema *schema, chute_pool *pool,
                                const chute_stream_config *config, chute_error *err) {
    chute_stream *stream = calloc(1, sizeof *stream);
    if (!stream) {
        chute_fail(err, CHUTE_E_NOMEM, "out of memory");
        return NULL;
    }
    atomic_init(&stream->refs, 1);
    chute_stream_init_locks(stream);
    chute_queue_init(&stream->waiting);
    chute_queue_init(&stream->parked);
    chute_queue_init(&stream->spent);
    chute_queue_init(&stream->stale);
    stream->schema = chute_schema_keep(schema);
    stream->window = chute_pool_window(pool);
    stream->insert = chute_insert_new(schema, config, err);
    stream->pool = chute_pool_keep(pool);
    if (!stream->insert || set_policy(stream, config, err) != CHUTE_OK ||
        open_first(stream, config, err) != CHUTE_OK || start_flusher(stream, err) != CHUTE_OK) {
        chute_pool_close(pool);
        chute_stream_destroy(stream);
        return NULL;
    }
    chute_registry_add(stream);
    return stream;
}

/* ---- batches ------------------------------------------------------------------------------- */

static void count_outcome(chute_stream *stream, const chute_batch *batch) {
    if (!batch->aside) stream->in_pool--;
    stream->results = true;
    stream->stats.batches_in_flight--;
    stream->stats.pending -= batch->rows;
    if (batch->error.kind == CHUTE_OK) {
        stream->stats.acked += batch->rows;
        stream->stats.batches_acked++;
        stream->stats.bytes_raw += batch->bytes;
        stream->stats.bytes_sent += batch->body_len;
        stream->stats.pending_bytes -= batch->bytes;
    } else {
        stream->stats.parked += batch->rows;
        stream->stats.batches_parked++;
        if (batch->error.kind != CHUTE_E_CLOSED || !stream->failed)
            stream->last_error = batch->error;
        stream->failed++;
    }
}

/* The I/O thread has a batch that the server did not take this time. The others need not wait
 * behind it, unless the server takes none; but those that waited here can be dropped, which
 * "drop_old" is to do. */
void chute_stream_batch_retried(chute_batch *batch) {
    chute_stream *stream = batch->owner;
    chute_stream_lock(stream);
    bool leaves = batch->error.kind == CHUTE_E_SERVER && !batch->aside &&
                  stream->overflow != CHUTE_OVERFLOW_DROP_OLD;
    if (leaves) {
        batch->aside = true;
        stream->in_pool--;
    }
    stream->stats.retries++;
    stream->failed++;
    stream->last_error = batch->error;
    chute_stream_unlock(stream);
    if (leaves) chute_stream_kick(stream);
}

static void settle(chute_stream *stream, chute_batch *batch) {
    bool acked = batch->error.kind == CHUTE_OK;
    free(batch->body);
    batch->body = NULL;
    if (!acked && !batch->slot) chute_buffer_trim(batch->buffer);
    chute_stream_lock(stream);
    count_outcome(stream, batch);
    if (acked) stream->held--;
    bool again = !batch->slot || !batch->slot->dead;
    chute_queue_push(!acked ? &stream->parked : again ? &stream->spent : &stream->stale, batch);
    chute_stream_unlock(stream);
}

/* A thread of the pool hands the batch back with its outcome. */
void chute_stream_batch_done(chute_batch *batch) {
    chute_stream *stream = batch->owner;
    if (!stream->backlog || !chute_backlog_take_back(stream, batch)) settle(stream, batch);
    pthread_mutex_lock(&stream->mutex);
    stream->kicks++;
    pthread_cond_signal(&stream->wake);
    pthread_cond_broadcast(&stream->changed);
    pthread_mutex_unlock(&stream->mutex);
    chute_stream_release(stream);
}

void chute_stream_seal(chute_stream *stream) {
    chute_batch *batch = stream->open;
    stream->open = NULL;
    chute_batch_seal(batch);
    stream->warm -= stream->warm / 8;
    if (batch->bytes > stream->warm) stream->warm = batch->bytes;
    stream->held++;
    stream->stats.batches_sealed++;
    stream->stats.batches_in_flight++;
    stream->stats.pending_bytes += batch->bytes;
    chute_queue_push(stream->backlog ? &stream->backlog->sealing : &stream->waiting, batch);
}

static uint64_t open_rows(const chute_stream *stream) {
    return stream->open ? chute_buffer_rows(stream->open->buffer) : 0;
}

static bool has_room(const chute_stream *stream) {
    uint64_t dead = stream->backlog ? stream->backlog->dead_bytes : 0;
    return stream->open ||
           (stream->stats.pending_bytes + dead + stream->max_bytes <= stream->max_pending &&
            (stream->backlog || stream->held < stream->max_held));
}

/* ---- inserting ----------------------------------------------------------------------------- */

/* The oldest batch that no thread of the pool has yet gives way. */
static bool drop_oldest(chute_stream *stream) {
    if (stream->backlog && chute_backlog_drop_found(stream)) return true;
    chute_batch *batch =
        stream->backlog ? chute_backlog_oldest(stream) : chute_queue_pop(&stream->waiting);
    if (!batch) return false;
    if (batch->slot) chute_slot_release(batch->slot);
    stream->stats.dropped += batch->rows;
    stream->stats.pending -= batch->rows;
    stream->stats.batches_in_flight--;
    stream->stats.pending_bytes -= batch->bytes;
    stream->held--;
    chute_queue_push(&stream->spent, batch);
    return true;
}

static int overflow(chute_stream *stream, int *mask) {
    switch (stream->overflow) {
    case CHUTE_OVERFLOW_DROP_NEW:
        stream->stats.offered++;
        stream->stats.accepted++;
        stream->stats.dropped++;
        *mask |= CHUTE_INSERT_ACCEPTED;
        return CHUTE_E_BUSY;
    case CHUTE_OVERFLOW_DROP_OLD:
        if (drop_oldest(stream)) return CHUTE_OK;
        break;
    case CHUTE_OVERFLOW_BLOCK: return CHUTE_E_BUSY; /* the caller waits, or counts it refused */
    default: break;
    }
    stream->stats.offered++;
    stream->stats.refused++;
    return CHUTE_E_BUSY;
}

static int open_next(chute_stream *stream, int *mask) {
    while (!has_room(stream)) {
        int rc = overflow(stream, mask);
        if (rc != CHUTE_OK) return rc;
    }
    if (!stream->spare) return NEED_BATCH;
    stream->open = stream->spare;
    stream->spare = stream->spare->next;
    return CHUTE_OK;
}

static void seal_if_full(chute_stream *stream, int *mask) {
    const chute_buffer *buffer = stream->open->buffer;
    uint64_t word = atomic_load_explicit(buffer->word, memory_order_relaxed);
    if (chute_word_rows(word) < stream->max_rows && chute_word_bytes(word) < stream->max_bytes)
        return;
    chute_stream_seal(stream);
    *mask |= CHUTE_INSERT_SEALED;
}

/* Under `busy`. */
static int insert_row(chute_stream *stream, const chute_cells *cells, int *mask, bool *first,
                      chute_error *err) {
    int rc = CHUTE_OK;
    for (;;) {
        if (!stream->open && (rc = open_next(stream, mask)) != CHUTE_OK) return rc;
        *first = atomic_load_explicit(stream->open->buffer->word, memory_order_relaxed) == 0;
        rc = chute_buffer_add_numbered(stream->open->buffer, cells, stream->stats.offered + 1, err);
        if (rc != CHUTE_E_FULL) break;
        chute_stream_seal(stream);
        *mask |= CHUTE_INSERT_SEALED;
    }
    stream->stats.offered++;
    if (rc != CHUTE_OK) {
        stream->stats.rejected++;
        *first = false;
        return rc;
    }
    stream->stats.accepted++;
    stream->stats.pending++;
    *mask |= CHUTE_INSERT_ACCEPTED;
    if (*first) stream->open_since = chute_stream_now();
    seal_if_full(stream, mask);
    return CHUTE_OK;
}

static int refuse_forked(chute_error *err) {
    return chute_fail(err, CHUTE_E_CLOSED,
                      "the stream was opened before fork(): open one in each process");
}

static int refuse(chute_stream *stream, int rc, chute_error *err) {
    if (stream->forked) return refuse_forked(err);
    if (rc == CHUTE_E_CLOSED) return chute_fail(err, rc, "the stream is closed");
    if (rc == CHUTE_E_BUSY)
        return chute_fail(
            err, rc, "pending.bytes (%zu) is reached, or %u batches: the destination is slower",
            stream->max_pending, stream->max_held);
    return rc;
}

/* A spare was wanted before the flusher had one ready. */
static int bring_batch(chute_stream *stream, chute_error *err) {
    chute_error why = {0};
    chute_batch *batch = chute_stream_ready_batch(stream, &why);
    if (!batch) {
        if (err) *err = why;
        chute_stream_count(stream, why.kind, 1);
        return why.kind;
    }
    chute_stream_push_spare(stream, batch);
    return CHUTE_OK;
}

/* The flusher must look where a batch waits for the pool, or where one began that will be old
 * before it looks by itself. */
static void tell_flusher(chute_stream *stream, int mask, bool first) {
    if ((mask & CHUTE_INSERT_SEALED) ||
        (first && atomic_load_explicit(&stream->next_look, memory_order_relaxed) >
                      chute_stream_now() + stream->age_ms))
        chute_stream_kick(stream);
}

int chute_stream_insert(chute_stream *stream, const chute_cells *cells, chute_error *err) {
    int mask = 0, rc;
    bool first = false;
    do {
        chute_stream_lock(stream);
        if (stream->shut) {
            stream->stats.offered++;
            stream->stats.refused++;
            rc = CHUTE_E_CLOSED;
        } else {
            rc = insert_row(stream, cells, &mask, &first, err);
        }
        if (stream->results) mask |= CHUTE_INSERT_RESULTS;
        chute_stream_unlock(stream);
    } while (rc == NEED_BATCH && (rc = bring_batch(stream, err)) == CHUTE_OK);
    if (mask & CHUTE_INSERT_SEALED || first) tell_flusher(stream, mask, first);
    if (rc == CHUTE_OK || (mask & CHUTE_INSERT_ACCEPTED)) return mask;
    return refuse(stream, rc, err);
}

void chute_stream_count(chute_stream *stream, int as, uint64_t rows) {
    chute_stream_lock(stream);
    stream->stats.offered += rows;
    if (as == CHUTE_OK)
        stream->stats.filtered += rows;
    else if (as == CHUTE_E_ROW)
        stream->stats.rejected += rows;
    else
        stream->stats.refused += rows;
    chute_stream_unlock(stream);
}

/* ---- flushing, waiting, looking ------------------------------------------------------------- */

static void seal_open(chute_stream *stream) {
    if (open_rows(stream) > 0) chute_stream_seal(stream);
}

int chute_stream_flush(chute_stream *stream, chute_error *err) {
    chute_stream_lock(stream);
    bool shut = stream->shut;
    seal_open(stream);
    chute_stream_unlock(stream);
    chute_stream_kick(stream);
    return shut ? refuse(stream, CHUTE_E_CLOSED, err) : CHUTE_OK;
}

void chute_stream_peek(chute_stream *stream, chute_stream_open_batch *out) {
    memset(out, 0, sizeof *out);
    chute_stream_lock(stream);
    if (open_rows(stream) > 0) {
        uint64_t word = atomic_load_explicit(stream->open->buffer->word, memory_order_relaxed);
        out->rows = chute_word_rows(word);
        out->bytes = chute_word_bytes(word);
        out->age_ms = chute_stream_now() - stream->open_since;
    }
    chute_stream_unlock(stream);
}

static bool is_settled(chute_stream *stream, bool for_room) {
    chute_stream_lock(stream);
    bool settled =
        stream->stats.batches_in_flight == 0 || (for_room && (has_room(stream) || stream->shut));
    chute_stream_unlock(stream);
    return settled;
}

int chute_stream_wait(chute_stream *stream, int for_room, uint32_t timeout_ms) {
    uint64_t until_ms = chute_stream_now() + timeout_ms;
    struct timespec until = {.tv_sec = (time_t)(until_ms / 1000),
                             .tv_nsec = (long)(until_ms % 1000) * 1000000};
    bool settled;
    pthread_mutex_lock(&stream->mutex);
    while (!(settled = is_settled(stream, for_room != 0)))
        if (pthread_cond_timedwait(&stream->changed, &stream->mutex, &until) == ETIMEDOUT) {
            settled = is_settled(stream, for_room != 0);
            break;
        }
    pthread_mutex_unlock(&stream->mutex);
    return settled;
}

void chute_stream_stats_read(chute_stream *stream, chute_stream_stats *out) {
    chute_stream_lock(stream);
    *out = stream->stats;
    out->open_rows = open_rows(stream);
    stream->results = false;
    chute_stream_unlock(stream);
}

uint64_t chute_stream_last_error(chute_stream *stream, chute_error *err) {
    chute_stream_lock(stream);
    uint64_t count = stream->failed;
    if (count && err) *err = stream->last_error;
    chute_stream_unlock(stream);
    return count;
}
