/* spool: the folder where batches live that are to outlive the process.
 *
 *   ROOT/                   shared by all that send to one destination
 *     stream-UUID/          of one stream, which holds a lock on the file `lock` in it; made with
 *                           its first batch file, removed with its last
 *       lock
 *       000001.slot         batch files: slotfile.h; 000002.new while one is made
 *     dead/                 batches that the server refuses: TOKEN.slot, TOKEN.json says why
 *     bad/                  files that are no batches, or damaged ones; NAME.json says why
 *
 * Nobody but who holds the lock touches what is in a stream's folder; the system drops the lock
 * with the process, however it ends. Used by one stream's threads. */
#ifndef CHUTE_SPOOL_H
#define CHUTE_SPOOL_H

#include "slot.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { CHUTE_FOLDER_NAME = 48 };

/* A stream's folder, locked. */
struct chute_folder {
    char name[CHUTE_FOLDER_NAME]; /* within the root */
    int fd, lock;                 /* -1 where there is none */
};

typedef struct chute_spool {
    char *root;                 /* absolute */
    struct chute_folder folder; /* its own */
    pthread_mutex_t lock;       /* of folder, slots and files */
    chute_spool_slot *slots;
    uint64_t files; /* made so far: they are named by their number */
    _Atomic uint64_t sequence;
    _Atomic bool unsynced_names; /* the folder has names that may not be on the disk */
} chute_spool;

/* The root is made where it is not there (its parent must be). */
chute_spool *chute_spool_open(const char *root, chute_error *err);
/* Lets go of the folder, which goes where it is empty. All slots are freed. NULL is fine. */
void chute_spool_close(chute_spool *spool);

/* "the spool PATH: cannot WHAT: " and errno's text; CHUTE_E_SPOOL. */
int chute_spool_refuse(const chute_spool *spool, const char *what, chute_error *err);

/* A file of the size, its room on the disk taken; `name` is filled in. It is called .new until it
 * is named. */
int chute_spool_make_file(chute_spool *spool, char name[CHUTE_SLOT_NAME], uint64_t bytes, int *fd,
                          chute_error *err);
int chute_spool_name_file(chute_spool *spool, const char *name, chute_error *err);
void chute_spool_remove_file(chute_spool *spool, const char *name);

void chute_spool_add(chute_spool *spool, chute_spool_slot *slot);
void chute_spool_drop(chute_spool *spool, chute_spool_slot *slot); /* fine if it was not added */
uint64_t chute_spool_next(chute_spool *spool);                     /* a sequence number */

/* Writes every sealed batch to the disk, and the folder's names. No slot may be freed meanwhile. */
int chute_spool_sync(chute_spool *spool, chute_error *err);

/* Bytes in dead/, but for those of the spool's own slots. No slot may be freed meanwhile. */
uint64_t chute_spool_dead_bytes(chute_spool *spool);

/* Opens and locks a folder of the root by its name; `make`: a new one. False, and errno EWOULDBLOCK
 * where another has it. */
bool chute_folder_lock(struct chute_folder *folder, int root, const char *name, bool make);
/* Writes a folder's name behind "stream-". 0, or -1: no randomness. */
int chute_spool_new_name(char name[CHUTE_FOLDER_NAME]);
/* Lets go of it, and leaves it to the next; one that is empty goes. */
void chute_folder_release(struct chute_folder *folder, int root);
/* Lets go of it; removes it where only the lock is left in it. */
void chute_folder_leave(struct chute_folder *folder, const char *root);

#endif
