/* aside: files that are put out of the way, each with a NAME.json that tells why.
 *
 *   dead/TOKEN.slot     batches that the server refuses, to be sent again when an operator says so
 *   bad/FOLDER-NAME     what cannot be read, or not wholly
 */
#ifndef CHUTE_ASIDE_H
#define CHUTE_ASIDE_H

#include "slotfile.h"

/* Moves the file `name` of the folder `from` to dead/. `about`: the file's; `error`: the refusal.
 * Once this returns 0 the file is there; else it may still be where it was. */
int chute_aside_bury(const char *root, int from, const char *name, const char *token,
                     const chute_batch *batch, const uint8_t *about, size_t about_bytes,
                     chute_error *err);

/* Moves the file `name` of the folder (called `folder` in the root) to bad/. */
int chute_aside_bad(const char *root, int from, const char *folder, const char *name,
                    const char *reason, chute_error *err);

#endif
