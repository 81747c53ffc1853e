/* backlog: what a stream with a spool does for its batches besides sending them: it seals their
 * files, syncs them, keeps those that could not be sent, moves those that the server refuses out of
 * the way, and sends what others left behind.
 *
 *   sealed ─► sealing ── flusher: checksums, sync ─► waiting ─► pool ─► free
 *                                                      ▲          ├─► waiting again, after a pause
 *   others' ─► found ── read ─► pool ─► returned ──────┘ (found)  └─► refused ─► dead/
 *
 * All of it is done by the flusher, but for what says so. */
#ifndef CHUTE_BACKLOG_H
#define CHUTE_BACKLOG_H

#include "recovery.h"
#include "stream.h"

struct chute_backlog {
    chute_spool *spool;
    chute_recovery recovery; /* the flusher's */
    bool fsync;              /* sealed batches are synced before they are sent */
    bool fallback;           /* memory, where the spool refuses */

    /* under the stream's `busy`: */
    struct chute_batch_queue sealing;
    struct chute_batch_queue refused;  /* for dead/ */
    struct chute_batch_queue returned; /* recovered ones that the pool gave back */
    chute_found *found;                /* to be sent, the oldest first */
    chute_found *discarded;            /* dropped: their files are to go */
    chute_batch *stepping;             /* its slot is being read by the flusher */
    chute_found *out;                  /* of found ones: in the pool, linked by next_out */
    uint32_t found_count, found_out;   /* found without an outcome; of these in the pool */
    uint64_t dead_bytes;               /* in dead/, but for those that this stream has parked */
    uint64_t retry_at;                 /* monotonic ms: nothing is sent before */
    uint32_t pause_ms;                 /* the last pause; 0 after a success */
    bool leaving;
    uint64_t refused_until; /* monotonic ms: the spool is not asked before */
    chute_error refusal;

    uint64_t look_at; /* monotonic ms; the flusher's */

    /* under the stream's `mutex`: */
    uint64_t sync_wanted, sync_done;
    int sync_result;
    chute_error sync_error;
};

/* Sets stream->backlog as the config says; none without a spool. */
int chute_backlog_open(chute_stream *stream, const chute_stream_config *config, chute_error *err);
void chute_backlog_close(struct chute_backlog *backlog); /* after all batches; NULL is fine */

/* In a forked child: lets go of the locks, which stay the parent's. */
void chute_backlog_orphan(struct chute_backlog *backlog);

/* A slot for a new batch. NULL: the spool refuses. Any thread, not under `busy`. */
chute_spool_slot *chute_backlog_slot(chute_stream *stream, size_t warm, chute_error *err);

/* Any thread: the pool gave back a batch. True: the backlog has taken it; false: it is acknowledged
 * or must be parked. */
bool chute_backlog_take_back(chute_stream *stream, chute_batch *batch);

/* Under `busy`: drops the oldest batch that others left. False: there is none to drop. */
bool chute_backlog_drop_found(chute_stream *stream);
/* Under `busy`: takes the oldest own batch that the pool does not have; NULL: there is none. */
chute_batch *chute_backlog_oldest(chute_stream *stream);

/* Takes no more part in sending: batches that rest in the pool come back. */
void chute_backlog_give_up(chute_stream *stream);

/* Under `busy`: whether the open batch is to grow on, though old: others wait before it. */
bool chute_backlog_holds(const chute_stream *stream);

/* All there is to do before batches go to the pool, and after. */
void chute_backlog_turn(chute_stream *stream);
void chute_backlog_feed(chute_stream *stream);

/* When there is something to do again without being asked, in monotonic ms. */
uint64_t chute_backlog_deadline(chute_stream *stream);

/* ---- between backlog.c and adopted.c ------------------------------------------------------- */

/* Adopts, and measures what lies in dead/, if it is time; settles a batch that came back; removes
 * what was dropped. */
void chute_backlog_look(chute_stream *stream);
void chute_backlog_settle(chute_stream *stream, chute_batch *batch);
void chute_backlog_discard(chute_stream *stream);

/* Counts rows of a batch that goes to dead/ or bad/, and why. */
void chute_backlog_count_parked(chute_stream *stream, uint64_t rows, const chute_error *why);

/* Whether the batch's error was the pool's last word. Under `busy`: nothing is sent for a while;
 * the pool does not have it any more. */
bool chute_backlog_is_final(const chute_batch *batch);
void chute_backlog_pause(struct chute_backlog *backlog);
void chute_backlog_drop_out(struct chute_backlog *backlog, chute_found *found);

#endif
