/* decoder: rows out of RowBinaryWithNamesAndTypes, a piece of the body at a time.
 *
 *   │ leb columns │ a string a name │ a string a type │ row │ row …
 *
 * Bytes are copied in as they come and dropped once their rows were read. A row that is not whole
 * yet is decoded from its start when more has come; a long one not before its bytes have grown by
 * half, so that all attempts together cost a few times one.
 *
 * No length in the bytes is believed before the bytes it tells of are there: what is allocated is
 * bounded by what has come.
 */
#ifndef CHUTE_DECODER_H
#define CHUTE_DECODER_H

#include "chute.h"
#include "type.h"
#include "zone.h"

#include <stdbool.h>

enum {
    CHUTE_ROW_BYTES_MAX = 1 << 30,     /* of a row, and of the header */
    CHUTE_DECODE_DEPTH_MAX = 300,      /* of values in values, Dynamic ones in Dynamic ones too */
    CHUTE_DECODE_EMPTIES_MAX = 1 << 20 /* parts of a row that take no byte, as Tuple() */
};

/* What decoding a value comes to, beside negative errors. */
enum { CHUTE_DECODE_MORE = 1 /* its bytes are not all there */ };

struct chute_decoder_column {
    char *name; /* owned, NUL-ended; may hold NUL */
    size_t name_len;
    chute_type *type; /* owned */
};

struct chute_decoder {
    uint32_t flags;        /* CHUTE_DECODE_… */
    const char *zone_name; /* owned: of DateTime without a zone */

    uint8_t *bytes; /* owned: those not yet dropped */
    size_t len, capacity;
    size_t start;    /* of the next row */
    size_t tried;    /* bytes there were at the last attempt that found too few; 0: none */
    bool ended;      /* no more will come */
    bool has_header; /* `columns` stand */
    int failed;      /* the error that ended it: nothing behind it can be read */
    chute_error error;

    struct chute_decoder_column *columns; /* owned */
    uint32_t count;
    uint64_t row; /* number of the row being read, from 1 */

    /* The row being read. */
    const uint8_t *at, *end;
    uint32_t column;
    uint32_t depth;
    uint32_t empties;
    chute_cells *cells;             /* owned */
    struct chute_text_chunk *texts; /* owned: the one in use first, then those used up */
    struct chute_text_chunk *spare; /* owned: those to use next */
    struct chute_zone_entry *zones; /* owned */
    uint32_t zone_count;
    struct chute_tagged *tagged[256]; /* owned: types of Dynamic values, by first byte of the tag */
    uint32_t tagged_count;
};

/* Reads one value into the cell of that index. 0, CHUTE_DECODE_MORE or an error, noted in the
 * decoder. */
int chute_decode(chute_decoder *decoder, const chute_type *type, uint32_t cell);

/* By family, for chute_decode. */
typedef int (*chute_decode_value)(chute_decoder *, const chute_type *, uint32_t cell);
int chute_decode_nothing(chute_decoder *, const chute_type *, uint32_t);
int chute_decode_integer(chute_decoder *, const chute_type *, uint32_t);
int chute_decode_wide_integer(chute_decoder *, const chute_type *, uint32_t);
int chute_decode_float(chute_decoder *, const chute_type *, uint32_t);
int chute_decode_bool(chute_decoder *, const chute_type *, uint32_t);
int chute_decode_decimal(chute_decoder *, const chute_type *, uint32_t);
int chute_decode_string(chute_decoder *, const chute_type *, uint32_t);
int chute_decode_fixed_string(chute_decoder *, const chute_type *, uint32_t);
int chute_decode_uuid(chute_decoder *, const chute_type *, uint32_t);
int chute_decode_ip(chute_decoder *, const chute_type *, uint32_t);
int chute_decode_enum(chute_decoder *, const chute_type *, uint32_t);
int chute_decode_date(chute_decoder *, const chute_type *, uint32_t);
int chute_decode_datetime(chute_decoder *, const chute_type *, uint32_t);
int chute_decode_time(chute_decoder *, const chute_type *, uint32_t);
int chute_decode_nullable(chute_decoder *, const chute_type *, uint32_t);
int chute_decode_same(chute_decoder *, const chute_type *, uint32_t); /* as the one child */
int chute_decode_array(chute_decoder *, const chute_type *, uint32_t);
int chute_decode_map(chute_decoder *, const chute_type *, uint32_t);
int chute_decode_tuple(chute_decoder *, const chute_type *, uint32_t);
int chute_decode_nested(chute_decoder *, const chute_type *, uint32_t);
int chute_decode_variant(chute_decoder *, const chute_type *, uint32_t);
int chute_decode_dynamic(chute_decoder *, const chute_type *, uint32_t);
int chute_decode_json(chute_decoder *, const chute_type *, uint32_t);

/* Notes an error of the column being read; returns its code. */
int chute_decode_fail(chute_decoder *decoder, const char *format, ...)
    __attribute__((format(printf, 2, 3), cold));
int chute_decode_no_memory(chute_decoder *decoder);

/* ---- what values are read with ------------------------------------------------------------ */

static inline size_t chute_decode_left(const chute_decoder *decoder) {
    return (size_t)(decoder->end - decoder->at);
}

/* The next `n` bytes, passed; NULL where they are not all there. */
static inline const uint8_t *chute_decode_take(chute_decoder *decoder, size_t n) {
    if (n > chute_decode_left(decoder)) return NULL;
    const uint8_t *at = decoder->at;
    decoder->at += n;
    return at;
}

/* A length or a count: 0, MORE or an error. */
int chute_decode_leb(chute_decoder *decoder, uint64_t *value);

/* A leb length and that many bytes, borrowed. */
int chute_decode_bytes(chute_decoder *decoder, const uint8_t **bytes, size_t *len);

/* Valid until the next chute_decode_reserve, or a call that reads a value made of values. */
static inline chute_cell *chute_decode_cell(chute_decoder *decoder, uint32_t index) {
    return decoder->cells->at + index;
}

/* Makes `cell` one of `kind` and `len`, with `children` new cells, all absent, the first of them
 * `*first`. */
int chute_decode_open(chute_decoder *decoder, uint32_t cell, uint32_t kind, uint32_t len,
                      uint32_t children, uint32_t *first);

/* Room for `n` bytes of text that stays where it is until the next row; NULL: no memory. What
 * chute_decode_text is then told of is used up. */
char *chute_decode_room(chute_decoder *decoder, size_t n);
int chute_decode_text(chute_decoder *decoder, uint32_t cell, const char *text, size_t len);
void chute_decode_reset_texts(chute_decoder *decoder); /* for the next row */
void chute_decode_free_texts(chute_decoder *decoder);

/* The zone of that name, borrowed; NULL, which is UTC, where this system does not know it. */
const chute_zone *chute_decode_zone(chute_decoder *decoder, const char *name);

/* Frees the types that Dynamic values brought. */
void chute_decode_forget_tagged(chute_decoder *decoder);
/* The same, before a row, where there are many. */
void chute_decode_begin_types(chute_decoder *decoder);

#endif
