/* type_untag: types from the binary form that precedes a Dynamic value. */
#ifndef CHUTE_TYPE_UNTAG_H
#define CHUTE_TYPE_UNTAG_H

#include "chute.h"

/* Reads the type at the head of `len` bytes. 0: `*type` (the caller frees it; NULL for Nothing, the
 * tag of a NULL) took `*used` bytes. 1: more bytes are needed. Negative: no type; the error says
 * why. */
int chute_type_untag(const uint8_t *bytes, size_t len, chute_type **type, size_t *used,
                     chute_error *err);

#endif
