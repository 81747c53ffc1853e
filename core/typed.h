/* typed: the types that values name themselves, chute.typed("DateTime64(3)", …): each distinct
 * text is parsed and its codec bound once, and kept while there is room. */
#ifndef CHUTE_TYPED_H
#define CHUTE_TYPED_H

#include "codec.h"

struct chute_typed_type {
    char *text; /* owned, with all else here */
    size_t text_len;
    chute_type *type;
    char *canonical;    /* as a server prints it, NUL-ended */
    chute_codec *codec; /* of the type, without Nullable around it */
    uint8_t *tag;       /* the same in binary */
    size_t tag_len;
};

typedef struct chute_typed chute_typed;

/* The zone in `options` must outlive it. Without options there are neither codecs nor tags. NULL:
 * out of memory. */
chute_typed *chute_typed_new(const struct chute_codec_options *options);
void chute_typed_free(chute_typed *typed); /* taken; NULL is fine */

/* The type and the value in a typed cell, whose cells `row` takes. NULL: it was refused. Borrowed
 * until the next call. */
const struct chute_typed_type *chute_typed_open(chute_typed *typed, chute_row *row,
                                                const chute_cell *cell, const chute_cell **value);

#endif
