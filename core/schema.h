/* schema: the columns of a table as rows bring them, and the encoder compiled from them. */
#ifndef CHUTE_SCHEMA_H
#define CHUTE_SCHEMA_H

#include "encoder.h"

#include <stdatomic.h>

struct chute_column {
    char *name; /* owned, NUL-ended, no NUL inside */
    size_t name_len;
    chute_type *type;   /* owned */
    chute_codec *codec; /* owned */
    uint8_t *absent;    /* owned: wire bytes of an absent value, or NULL */
    uint32_t absent_len;
    uint32_t peer; /* an earlier column of the same Nested, or its own index */
};

struct chute_schema {
    _Atomic uint32_t refs;
    int format; /* CHUTE_FORMAT_… */
    char *zone; /* owned */
    size_t zone_len;
    struct chute_column *columns; /* owned */
    uint32_t count;
    uint32_t capacity;
    chute_encoder *encoder; /* owned; NULL until compiled */
    uint8_t *header;        /* owned: what the format puts before the rows */
    size_t header_len;
    bool json_text; /* JSON goes as text, and the INSERT must say so */
    /* Columns that are of one Nested with an earlier one lie in here; none where both are equal. */
    uint32_t peers_from, peers_end;
};

chute_schema *chute_schema_keep(chute_schema *schema); /* one more reference */

/* ClickHouse's name of a format: static. */
const char *chute_format_name(int format);

/* Encodes the row at `out`, where there are `room` bytes and slack: 0 and its length; CHUTE_E_FULL,
 * `err` not filled, where that may be too little (see chute_encoder_bound); or CHUTE_E_ROW with
 * `err` naming row (as numbered by the caller), column, place in the value and type. */
int chute_schema_encode(const chute_schema *schema, const chute_cells *cells, uint64_t row_number,
                        uint8_t *out, size_t room, size_t *len, chute_error *err);

#endif
