/* aside: files that are put out of the way, each with a NAME.json that tells why.
 *
 *   dead/TOKEN.slot     batches that the server refuses, to be sent again when an operator says so
 *   bad/FOLDER-NAME     what cannot be read, or not wholly
 */
#ifndef CHUTE_ASIDE_H
#define CHUTE_ASIDE_H

#include "slotfile.h"

struct chute_aside_place {
    const char *root;
    int folder; /* -1: it lies in dead/ already */
    const char *name;
};

/* Moves the file to dead/, with a note of the batch's error. `about`: the file's. Once this returns
 * 0 the file is there; else it may still be where it was. */
int chute_aside_bury(const struct chute_aside_place *from, const char *token,
                     const chute_batch *batch, const uint8_t *about, size_t about_bytes,
                     chute_error *err);

/* Removes the batch and its note from dead/. */
void chute_aside_remove(const char *root, const char *token);

/* Bytes that lie in dead/. */
uint64_t chute_aside_dead_bytes(const char *root);

/* Moves the file `name` of the folder (called `folder` in the root) to bad/. */
int chute_aside_bad(const char *root, int from, const char *folder, const char *name,
                    const char *reason, chute_error *err);

#endif
