/* recovery: the batches that other processes left in the spool.
 *
 * A folder whose lock is free has lost its owner: whoever gets the lock adopts it, sends what is in
 * it and removes it. Files that hold no rows go, files that are none of ours to understand are set
 * aside. */
#ifndef CHUTE_RECOVERY_H
#define CHUTE_RECOVERY_H

#include "spool.h"

struct chute_orphan {
    struct chute_orphan *next;
    struct chute_folder folder;
    uint32_t left; /* batches in it */
};

/* A batch left behind. */
typedef struct chute_found chute_found;
struct chute_found {
    chute_found *next;
    struct chute_orphan *orphan;
    char name[CHUTE_SLOT_NAME];
    uint64_t opened_ms, sequence;
    uint64_t rows, bytes; /* that can be trusted; header and rows */
    bool damaged;         /* there were more */
    chute_batch *batch;   /* while the pool has it; the backlog's */
    chute_found *next_out;
};

typedef struct chute_recovery {
    const char *root; /* borrowed */
    struct chute_orphan *orphans;
    uint32_t count;
    bool more; /* the last look left some to the next */
} chute_recovery;

/* Adopts folders without an owner, the oldest first, until what was found has `room` bytes. The
 * batches found, the oldest first, linked by next. */
chute_found *chute_recovery_look(chute_recovery *recovery, uint64_t room);

/* Reads the batch for sending, under the token it was written with, and notes in the file that it
 * may have been sent. NULL: it cannot be read; retryable where it is the disk's fault, or memory's.
 */
chute_batch *chute_recovery_load(const chute_found *found, chute_error *err);

/* Each is the end of `found` (taken): its file is removed (a damaged one set aside), moved to
 * dead/ with the batch's error, moved to bad/, or left for another look. */
void chute_recovery_finish(chute_recovery *recovery, chute_found *found);
int chute_recovery_bury(chute_recovery *recovery, chute_found *found, const chute_batch *batch,
                        chute_error *err);
void chute_recovery_give_up(chute_recovery *recovery, chute_found *found, const char *reason);
void chute_recovery_put_back(chute_recovery *recovery, chute_found *found);

/* Leaves all folders to others. What was found is no longer any use: free each. */
void chute_recovery_end(chute_recovery *recovery);

#endif
