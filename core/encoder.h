/* encoder: a schema's compiled row closure: a chain of C functions bound to their constants, one
 * link a column. Each ends in a jump to the next; neighbouring columns of one family are fused:
 * written by one call. */
#ifndef CHUTE_ENCODER_H
#define CHUTE_ENCODER_H

#include "codec.h"

struct chute_slot;

/* Writes the column's cell and the rest of the row after it, as `chute_encoder_run` does. */
typedef uint8_t *(*chute_link)(const struct chute_slot *, const chute_cell *, chute_row *,
                               uint8_t *);

/* A link and what it knows of its column. */
struct chute_slot {
    chute_link run;
    const chute_codec *codec; /* borrowed from the column */
    const uint8_t *absent;    /* wire bytes of an absent value, or NULL: a value is needed */
    uint32_t absent_len;
    uint32_t width;     /* the codec's */
    double low, high;   /* the codec's */
    uint64_t max;       /* the codec's */
    uint64_t brief;     /* an absent value where it is at most 8 bytes */
    uint32_t brief_len; /* 0 where it is longer, or a value is needed */
    bool nullable;      /* an explicit NULL is the codec's business, else it is as absent */
    bool fused;         /* the next column's link is the same function */
};

typedef struct chute_encoder {
    struct chute_slot *slots; /* one a column, and one that ends the chain */
    uint32_t count;           /* columns */
    uint32_t child_bound;     /* most bytes an arena cell adds, besides its long text */
    size_t bound;             /* most bytes of a row besides its long texts and its arena cells */
} chute_encoder;

struct chute_column;

/* Links the columns' codecs. `flagged`: a byte goes before each value, as in RowBinaryWithDefaults;
 * absent values have theirs. The columns must outlive it. NULL: out of memory. */
chute_encoder *chute_encoder_new(const struct chute_column *columns, uint32_t count, bool flagged);
void chute_encoder_free(chute_encoder *encoder); /* taken; NULL is fine */

/* The most bytes the row can take on the wire, but for what codecs claim. */
size_t chute_encoder_bound(const chute_encoder *encoder, const chute_cells *cells);

/* Writes the row at `out`, where there are `room` bytes and CHUTE_WIRE_SLACK more, and returns the
 * place after it. NULL, with the failure in `row`; it is row->cramped where the room may be too
 * small: with chute_encoder_bound bytes that is for what codecs claim, and more is to be tried. */
uint8_t *chute_encoder_run(const chute_encoder *encoder, const chute_cells *cells, chute_row *row,
                           uint8_t *out, size_t room);

/* Writes one value as `slot`'s column would. */
uint8_t *chute_encoder_put(const struct chute_slot *slot, chute_row *row, const chute_cell *cell,
                           uint8_t *out);

/* What explain calls the function of a link: static. */
const char *chute_encoder_link_name(const struct chute_slot *slot);

#endif
