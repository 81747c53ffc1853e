/* Decoding of values made of values. */
#include "decoder.h"

#include <string.h>

int chute_decode_same(chute_decoder *decoder, const chute_type *type, uint32_t cell) {
    return chute_decode(decoder, type->children[0], cell);
}

int chute_decode_nullable(chute_decoder *decoder, const chute_type *type, uint32_t cell) {
    const uint8_t *flag = chute_decode_take(decoder, 1);
    if (!flag) return CHUTE_DECODE_MORE;
    if (*flag == 0) return chute_decode(decoder, type->children[0], cell);
    if (*flag != 1) return chute_decode_fail(decoder, "%u is no flag of a Nullable", *flag);
    chute_decode_cell(decoder, cell)->kind = CHUTE_CELL_NULL;
    return 0;
}

/* ---- lists -------------------------------------------------------------------------------- */

/* Whether every value takes a byte at least. */
static bool takes_bytes(const chute_type *type) {
    if (type->kind == CHUTE_TYPE_NOTHING) return false;
    if (type->kind != CHUTE_TYPE_TUPLE) return true;
    for (size_t i = 0; i < type->count; i++)
        if (takes_bytes(type->children[i])) return true;
    return false;
}

/* The count of parts, which are then there to be read, as far as counting can tell. */
static int read_count(chute_decoder *decoder, bool has_bytes, uint32_t *count) {
    uint64_t n = 0;
    int code = chute_decode_leb(decoder, &n);
    if (code) return code;
    if (n > CHUTE_ROW_BYTES_MAX)
        return chute_decode_fail(decoder, "a list of %llu", (unsigned long long)n);
    if (has_bytes && n > chute_decode_left(decoder)) return CHUTE_DECODE_MORE;
    if (!has_bytes && n > CHUTE_DECODE_EMPTIES_MAX - decoder->empties)
        return chute_decode_fail(decoder, "more than %d values that take no byte",
                                 CHUTE_DECODE_EMPTIES_MAX);
    if (!has_bytes) decoder->empties += (uint32_t)n;
    *count = (uint32_t)n;
    return 0;
}

int chute_decode_array(chute_decoder *decoder, const chute_type *type, uint32_t cell) {
    const chute_type *element = type->children[0];
    uint32_t count = 0, first = 0;
    int code = read_count(decoder, takes_bytes(element), &count);
    if (code == 0) code = chute_decode_open(decoder, cell, CHUTE_CELL_LIST, count, count, &first);
    for (uint32_t i = 0; i < count && code == 0; i++)
        code = chute_decode(decoder, element, first + i);
    return code;
}

/* ---- maps --------------------------------------------------------------------------------- */

/* Whether keys of that type are Lua's: each value one key, compared by what it is. */
static bool makes_keys(const chute_type *type) {
    switch (type->kind) {
    case CHUTE_TYPE_LOW_CARDINALITY:
    case CHUTE_TYPE_SIMPLE_AGGREGATE_FUNCTION: return makes_keys(type->children[0]);
    case CHUTE_TYPE_UINT64:
    case CHUTE_TYPE_INT64:
    case CHUTE_TYPE_INTERVAL:
    case CHUTE_TYPE_BFLOAT16:
    case CHUTE_TYPE_FLOAT32:
    case CHUTE_TYPE_FLOAT64: return false;
    default: return type->count == 0 && type->kind < CHUTE_TYPE_NULLABLE;
    }
}

int chute_decode_map(chute_decoder *decoder, const chute_type *type, uint32_t cell) {
    const chute_type *key = type->children[0], *value = type->children[1];
    uint32_t kind = makes_keys(key) ? CHUTE_CELL_TABLE : CHUTE_CELL_PAIRS;
    uint32_t count = 0, first = 0;
    int code = read_count(decoder, takes_bytes(key) || takes_bytes(value), &count);
    if (code == 0) code = chute_decode_open(decoder, cell, kind, count, count * 2, &first);
    for (uint32_t i = 0; i < count && code == 0; i++) {
        code = chute_decode(decoder, key, first + 2 * i);
        if (code == 0) code = chute_decode(decoder, value, first + 2 * i + 1);
    }
    return code;
}

/* ---- tuples ------------------------------------------------------------------------------- */

static void name_cell(chute_decoder *decoder, uint32_t index, const char *name) {
    chute_cell *cell = chute_decode_cell(decoder, index);
    cell->kind = CHUTE_CELL_STRING;
    cell->ptr = name;
    cell->len = (uint32_t)strlen(name);
}

static int decode_named(chute_decoder *decoder, const chute_type *type, uint32_t cell) {
    uint32_t count = (uint32_t)type->count, first;
    int code = chute_decode_open(decoder, cell, CHUTE_CELL_TABLE, count, count * 2, &first);
    for (uint32_t i = 0; i < count && code == 0; i++) {
        name_cell(decoder, first + 2 * i, type->names[i]);
        code = chute_decode(decoder, type->children[i], first + 2 * i + 1);
    }
    return code;
}

int chute_decode_tuple(chute_decoder *decoder, const chute_type *type, uint32_t cell) {
    if (type->names) return decode_named(decoder, type, cell);
    uint32_t count = (uint32_t)type->count, first;
    int code = chute_decode_open(decoder, cell, CHUTE_CELL_LIST, count, count, &first);
    for (uint32_t i = 0; i < count && code == 0; i++)
        code = chute_decode(decoder, type->children[i], first + i);
    return code;
}

int chute_decode_nested(chute_decoder *decoder, const chute_type *type, uint32_t cell) {
    uint32_t count = 0, first = 0;
    int code = read_count(decoder, true, &count);
    if (code == 0) code = chute_decode_open(decoder, cell, CHUTE_CELL_LIST, count, count, &first);
    for (uint32_t i = 0; i < count && code == 0; i++) code = decode_named(decoder, type, first + i);
    return code;
}
