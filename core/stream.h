/* stream: what a program inserts into: schema, buffer, policy and pool.
 *
 * Two locks. `busy` is taken by one atomic exchange and guards what a row touches: nothing that
 * may sleep happens under it. `mutex` is for sleeping: the flusher's and waiters' conditions. It
 * may be held when `busy` is taken, never the other way round.
 *
 *   open ── seal ─► waiting ── flusher ─► pool ── done ─► spare (renewed), or parked
 */
#ifndef CHUTE_STREAM_H
#define CHUTE_STREAM_H

#include "batch.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct chute_stream {
    _Atomic uint32_t refs; /* the owner's, and one a batch in the pool */
    chute_schema *schema;
    chute_insert *insert;
    chute_pool *pool;
    struct chute_backlog *backlog; /* of a stream with a spool, else NULL */
    uint64_t max_rows;
    size_t max_bytes;
    size_t max_pending;
    uint64_t age_ms;
    uint32_t overflow;
    uint32_t window; /* batches handed to the pool at a time */

    _Atomic bool busy;
    /* under `busy`: */
    bool shut;
    bool departed;                    /* it has no thread and no pool any more */
    bool forked;                      /* of the parent process: of no use in this one */
    bool left;                        /* its owner has left it: its flusher buries it */
    bool results;                     /* an outcome came since the last stats_read */
    chute_batch *open;                /* takes rows, or NULL */
    uint64_t open_since;              /* monotonic ms of its first row */
    chute_batch *spare;               /* ready to be opened; a stack, linked by next */
    struct chute_batch_queue waiting; /* sealed, for the pool */
    struct chute_batch_queue parked;
    struct chute_batch_queue stale; /* of no more use: the flusher frees them */
    struct chute_batch_queue spent; /* dropped: to be renewed */
    uint32_t in_pool;
    uint32_t held; /* sealed batches in memory, parked ones too */
    uint32_t max_held;
    size_t warm; /* bytes that a batch lately took: what a new buffer is warmed to */
    chute_stream_stats stats;
    chute_error last_error;
    uint64_t failed; /* attempts of batches */

    pthread_mutex_t mutex;
    /* under `mutex`: */
    pthread_cond_t wake;    /* the flusher's */
    pthread_cond_t changed; /* waiters': an outcome, or room */
    uint64_t kicks;         /* times the flusher was asked to look */
    bool stop;
    pthread_t flusher;

    _Atomic uint64_t next_look; /* monotonic ms when the flusher looks again by itself */
    struct chute_stream *next;  /* in the registry */
};

uint64_t chute_stream_now(void); /* monotonic milliseconds */

void chute_stream_lock(chute_stream *stream);
void chute_stream_unlock(chute_stream *stream);

/* Under `busy`: seals the open batch, which has rows. */
void chute_stream_seal(chute_stream *stream);

/* A batch that can be opened: a spent one renewed, else a new one. NULL: out of memory. Not under
 * `busy`: it allocates and asks the system for randomness. */
chute_batch *chute_stream_ready_batch(chute_stream *stream, chute_error *err);

/* Keeps a batch that can be opened for the next to be. */
void chute_stream_push_spare(chute_stream *stream, chute_batch *batch);

/* Asks the flusher to look. */
void chute_stream_kick(chute_stream *stream);

void chute_stream_init_locks(chute_stream *stream);
/* Frees what is nobody's any more. */
void chute_stream_destroy(chute_stream *stream);

/* What the pool calls with each batch's outcome, and with each attempt that failed before. */
void chute_stream_batch_done(chute_batch *batch);
void chute_stream_batch_retried(chute_batch *batch);

/* In a forked child: the stream's threads are not there, and its locks may be held for ever. It is
 * shut, and all that is done with it fails at once. */
void chute_stream_orphan(chute_stream *stream);

/* Ends the flusher and the hold on the pool: once. */
void chute_stream_depart(chute_stream *stream);

/* Gives a reference back. */
void chute_stream_release(chute_stream *stream);

/* The flusher's thread. (flusher.c) */
void *chute_flusher_run(void *stream);

#endif
