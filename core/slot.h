/* slot: a batch file, mapped, that a batch of this process fills again and again.
 *
 * One thread has it at a time, as it has the batch. What it stores is in the order in which it
 * must be found by whoever reads the file after this process was killed. See slotfile.h. */
#ifndef CHUTE_SLOT_H
#define CHUTE_SLOT_H

#include "slotfile.h"

struct chute_spool;

enum { CHUTE_SLOT_NAME = 32 };
enum { CHUTE_SLOT_CLEAN, CHUTE_SLOT_UNSYNCED, CHUTE_SLOT_SYNCED, CHUTE_SLOT_LOST_SYNC };

typedef struct chute_spool_slot chute_spool_slot;

struct chute_spool_slot {
    struct chute_spool *spool; /* outlives it */
    chute_spool_slot *next;    /* of the spool */
    char name[CHUTE_SLOT_NAME];
    int fd;
    uint8_t *map;
    size_t map_bytes;
    struct chute_slot_header header; /* as published last */
    struct chute_buffer_memory memory;
    uint32_t steps;      /* stored so far */
    uint64_t stepped;    /* word of the last of them */
    bool dead;           /* its file lies in dead/ */
    _Atomic int on_disk; /* CHUTE_SLOT_CLEAN…: of the sealed rows */
};

/* A new file in the spool's folder for batches of the insert: preallocated, mapped, free, its
 * first `warm` bytes of data faulted in. NULL: CHUTE_E_SPOOL says what refused. */
chute_spool_slot *chute_slot_new(struct chute_spool *spool, const chute_schema *schema,
                                 const chute_insert *insert, size_t ceiling, size_t warm,
                                 chute_error *err);

/* Unmaps it; the file goes where it holds no rows, and stays where it does. NULL is fine. */
void chute_slot_free(chute_spool_slot *slot);

/* free → open: from now on the word counts, which is 0. */
void chute_slot_open(chute_spool_slot *slot, const char *token);
/* Checksums what was added since, up to the last mark. Whoever calls it is who will seal. */
void chute_slot_step(chute_spool_slot *slot);
/* open → sealed: checksums the rest. */
void chute_slot_seal(chute_spool_slot *slot);
void chute_slot_attempt(chute_spool_slot *slot); /* sealed → attempted */
void chute_slot_release(chute_spool_slot *slot); /* → free: nothing of it is wanted any more */

/* Writes the sealed rows to the disk, once: CHUTE_E_SPOOL where that failed, now or before. */
int chute_slot_sync(chute_spool_slot *slot, chute_error *err);

/* What the file takes once it is cut to its sealed rows. */
uint64_t chute_slot_file_bytes(const chute_spool_slot *slot);

/* Whether the file is still where it was made. */
bool chute_slot_is_there(const chute_spool_slot *slot);

/* Moves the file of a refused batch to dead/, cut to its rows, if it is not there already, and
 * notes the batch's error. 0, or CHUTE_E_SPOOL: it is where it was. */
int chute_slot_bury(chute_spool_slot *slot, const chute_batch *batch, chute_error *err);

#endif
