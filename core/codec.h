/* codec: how values of one type are written: a C function bound to its constants.
 *
 * `put` writes one value of a cell and returns the place after it; or notes in the row why not
 * and returns NULL. It never writes more than `bound` bytes, each child of the cell adding its own
 * codec's, besides text by chute_row_put_text and what it claims by chute_row_claim: that is what
 * the encoder reserves beforehand. As it reserves the largest for each child, bounds are small
 * (under 80 bytes).
 */
#ifndef CHUTE_CODEC_H
#define CHUTE_CODEC_H

#include "row.h"
#include "type.h"
#include "zone.h"

#include <stdbool.h>

struct chute_date_cache;

typedef struct chute_codec chute_codec;
typedef uint8_t *(*chute_put)(const chute_codec *, chute_row *, const chute_cell *, uint8_t *);

/* Families whose columns the encoder fuses with their neighbours. */
enum chute_fuse {
    CHUTE_FUSE_NONE,
    CHUTE_FUSE_INTEGER, /* an integral plain number in [low, high] is its own wire form */
    CHUTE_FUSE_FLOAT64,
    CHUTE_FUSE_STRING,
    CHUTE_FUSE_FIXED /* FixedString: text of at most `width` bytes, zeroes after it */
};

struct chute_codec {
    chute_put put;
    const chute_type *type; /* borrowed from the column */
    const char *name;       /* of the closure, for explain: static */
    enum chute_fuse fuse;
    uint32_t width;   /* bytes on the wire where fixed, else 0 */
    uint32_t bound;   /* see above */
    double low, high; /* FUSE_INTEGER: plain numbers that are their own wire form */
    uint64_t max;     /* integers: the largest value */
    int64_t min;      /* integers: the smallest; negative for signed types only */
    uint32_t unit;    /* date and time: power of ten of a plain number's ticks a second */
    uint32_t scale;   /* date and time: the same of the wire's ticks; Decimal: digits */
    chute_zone *zone; /* naive date texts; owned */
    struct chute_date_cache *cache;      /* owned: the last hour seen; changes as rows pass */
    struct chute_enum_value *enum_names; /* owned: the words, by length and bytes */
    size_t count;                        /* children */
    chute_codec **children;              /* owned */
    bool takes_null;                     /* NULL is a value of the type's own */
    bool shares_cell; /* children are given the codec's own cell, not its parts */
    void *state;      /* owned: what the family needs besides */
    void (*free_state)(void *);
};

/* What a column says beyond its type. */
struct chute_codec_options {
    uint32_t unit;
    const char *zone; /* of naive texts where the type names none */
    size_t zone_len;
    const bool *json_text; /* whether the INSERT reads JSON as text: settled by the schema */
};

/* Binds a codec to `type`, which must outlive it. NULL: no encoder for that type, or a zone
 * that is not known. */
chute_codec *chute_codec_new(const chute_type *type, const struct chute_codec_options *options,
                             chute_error *err);

/* Binds a codec to each child of the codec's type: what the binders of nested families begin with.
 */
int chute_codec_bind_children(chute_codec *codec, const struct chute_codec_options *options,
                              chute_error *err);
void chute_codec_free(chute_codec *codec); /* taken; NULL is fine */

/* The most bytes that one arena cell of a column with this codec can ask for (0: a flat type). */
uint32_t chute_codec_child_bound(const chute_codec *codec);

/* The bounds of a value and of all its parts: what to claim before a put that nothing else has
 * reserved for. */
size_t chute_codec_need(const chute_codec *codec, const chute_row *row, const chute_cell *cell);

/* A part of a value. Nothing stands in for a part that is missing, but NULL where it may. */
static inline uint8_t *chute_codec_part(const chute_codec *codec, chute_row *row,
                                        const chute_cell *cell, uint8_t *out) {
    if (cell->kind <= CHUTE_CELL_NULL && !codec->takes_null)
        return chute_row_refuse(row, cell, " where a value of %s is needed", codec->type->name);
    return codec->put(codec, row, cell, out);
}

/* Binding by family: each fills the codec's constants, its type being set. */
typedef int (*chute_bind)(chute_codec *codec, const struct chute_codec_options *options,
                          chute_error *err);
int chute_bind_integer(chute_codec *, const struct chute_codec_options *, chute_error *);
int chute_bind_float(chute_codec *, const struct chute_codec_options *, chute_error *);
int chute_bind_bool(chute_codec *, const struct chute_codec_options *, chute_error *);
int chute_bind_decimal(chute_codec *, const struct chute_codec_options *, chute_error *);
int chute_bind_string(chute_codec *, const struct chute_codec_options *, chute_error *);
int chute_bind_fixed_string(chute_codec *, const struct chute_codec_options *, chute_error *);
int chute_bind_uuid(chute_codec *, const struct chute_codec_options *, chute_error *);
int chute_bind_ip(chute_codec *, const struct chute_codec_options *, chute_error *);
int chute_bind_enum(chute_codec *, const struct chute_codec_options *, chute_error *);
int chute_bind_date(chute_codec *, const struct chute_codec_options *, chute_error *);
int chute_bind_datetime(chute_codec *, const struct chute_codec_options *, chute_error *);
int chute_bind_nullable(chute_codec *, const struct chute_codec_options *, chute_error *);
int chute_bind_alias(chute_codec *, const struct chute_codec_options *, chute_error *);
int chute_bind_array(chute_codec *, const struct chute_codec_options *, chute_error *);
int chute_bind_map(chute_codec *, const struct chute_codec_options *, chute_error *);
int chute_bind_tuple(chute_codec *, const struct chute_codec_options *, chute_error *);
int chute_bind_nested(chute_codec *, const struct chute_codec_options *, chute_error *);
int chute_bind_wide(chute_codec *, const struct chute_codec_options *, chute_error *);
int chute_bind_time(chute_codec *, const struct chute_codec_options *, chute_error *);
int chute_bind_qbit(chute_codec *, const struct chute_codec_options *, chute_error *);
int chute_bind_nothing(chute_codec *, const struct chute_codec_options *, chute_error *);
int chute_bind_state(chute_codec *, const struct chute_codec_options *, chute_error *);
int chute_bind_variant(chute_codec *, const struct chute_codec_options *, chute_error *);
int chute_bind_dynamic(chute_codec *, const struct chute_codec_options *, chute_error *);
int chute_bind_json(chute_codec *, const struct chute_codec_options *, chute_error *);
int chute_bind_object(chute_codec *, const struct chute_codec_options *, chute_error *);

#endif
