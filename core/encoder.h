/* encoder: a schema's compiled row closure: a chain of C functions bound to their constants.
 * Neighbouring columns of one family are fused into one link. */
#ifndef CHUTE_ENCODER_H
#define CHUTE_ENCODER_H

#include "codec.h"

/* What a link knows of one column. */
struct chute_slot {
    const chute_codec *codec; /* borrowed from the column */
    const uint8_t *absent;    /* wire bytes of an absent value, or NULL: a value is needed */
    uint32_t absent_len;
    uint32_t width;   /* the codec's */
    double low, high; /* the codec's */
    bool nullable;    /* an explicit NULL is the codec's business, else it is as absent */
};

/* One link: a function over `count` neighbouring columns. */
struct chute_op {
    uint8_t *(*run)(const struct chute_op *op, chute_row *row, uint8_t *out);
    const struct chute_slot *slots; /* of the first of its columns */
    uint32_t first;
    uint32_t count;
    const char *name; /* for explain: static */
};

typedef struct chute_encoder {
    struct chute_slot *slots;
    uint32_t count;
    struct chute_op *ops;
    uint32_t op_count;
    size_t bound;         /* most bytes of a row besides its strings and its arena cells */
    uint32_t child_bound; /* most bytes an arena cell adds, besides its string */
} chute_encoder;

struct chute_column;

/* Links the columns' codecs. The columns must outlive it. NULL: out of memory. */
chute_encoder *chute_encoder_new(const struct chute_column *columns, uint32_t count);
void chute_encoder_free(chute_encoder *encoder); /* taken; NULL is fine */

/* The most bytes the row can take on the wire: what to reserve, with CHUTE_WIRE_SLACK more. */
size_t chute_encoder_bound(const chute_encoder *encoder, const chute_cells *cells);

/* Writes the row at `out` and returns the place after it; or NULL, with the failure in `row`. */
uint8_t *chute_encoder_run(const chute_encoder *encoder, const chute_cells *cells, chute_row *row,
                           uint8_t *out);

/* Writes one value as `slot`'s column would. */
uint8_t *chute_encoder_put(const struct chute_slot *slot, chute_row *row, const chute_cell *cell,
                           uint8_t *out);

#endif
