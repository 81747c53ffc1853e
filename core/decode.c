/* Decoding of one value, by its type, and what the families share. */
#include "decoder.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 16384 };

static const chute_decode_value DECODERS[CHUTE_TYPE_KINDS] = {
    [CHUTE_TYPE_NOTHING] = chute_decode_nothing,
    [CHUTE_TYPE_UINT8] = chute_decode_integer,
    [CHUTE_TYPE_UINT16] = chute_decode_integer,
    [CHUTE_TYPE_UINT32] = chute_decode_integer,
    [CHUTE_TYPE_UINT64] = chute_decode_integer,
    [CHUTE_TYPE_UINT128] = chute_decode_wide_integer,
    [CHUTE_TYPE_UINT256] = chute_decode_wide_integer,
    [CHUTE_TYPE_INT8] = chute_decode_integer,
    [CHUTE_TYPE_INT16] = chute_decode_integer,
    [CHUTE_TYPE_INT32] = chute_decode_integer,
    [CHUTE_TYPE_INT64] = chute_decode_integer,
    [CHUTE_TYPE_INT128] = chute_decode_wide_integer,
    [CHUTE_TYPE_INT256] = chute_decode_wide_integer,
    [CHUTE_TYPE_BFLOAT16] = chute_decode_float,
    [CHUTE_TYPE_FLOAT32] = chute_decode_float,
    [CHUTE_TYPE_FLOAT64] = chute_decode_float,
    [CHUTE_TYPE_BOOL] = chute_decode_bool,
    [CHUTE_TYPE_STRING] = chute_decode_string,
    [CHUTE_TYPE_FIXED_STRING] = chute_decode_fixed_string,
    [CHUTE_TYPE_DATE] = chute_decode_date,
    [CHUTE_TYPE_DATE32] = chute_decode_date,
    [CHUTE_TYPE_DATETIME] = chute_decode_datetime,
    [CHUTE_TYPE_DATETIME64] = chute_decode_datetime,
    [CHUTE_TYPE_TIME] = chute_decode_time,
    [CHUTE_TYPE_TIME64] = chute_decode_time,
    [CHUTE_TYPE_INTERVAL] = chute_decode_integer,
    [CHUTE_TYPE_DECIMAL] = chute_decode_decimal,
    [CHUTE_TYPE_UUID] = chute_decode_uuid,
    [CHUTE_TYPE_IPV4] = chute_decode_ip,
    [CHUTE_TYPE_IPV6] = chute_decode_ip,
    [CHUTE_TYPE_ENUM8] = chute_decode_enum,
    [CHUTE_TYPE_ENUM16] = chute_decode_enum,
    [CHUTE_TYPE_NULLABLE] = chute_decode_nullable,
    [CHUTE_TYPE_LOW_CARDINALITY] = chute_decode_same,
    [CHUTE_TYPE_ARRAY] = chute_decode_array,
    [CHUTE_TYPE_MAP] = chute_decode_map,
    [CHUTE_TYPE_TUPLE] = chute_decode_tuple,
    [CHUTE_TYPE_NESTED] = chute_decode_nested,
    [CHUTE_TYPE_VARIANT] = chute_decode_variant,
    [CHUTE_TYPE_DYNAMIC] = chute_decode_dynamic,
    [CHUTE_TYPE_JSON] = chute_decode_json,
    [CHUTE_TYPE_QBIT] = chute_decode_array,
    [CHUTE_TYPE_POINT] = chute_decode_tuple,
    [CHUTE_TYPE_RING] = chute_decode_array,
    [CHUTE_TYPE_LINE_STRING] = chute_decode_array,
    [CHUTE_TYPE_MULTI_LINE_STRING] = chute_decode_array,
    [CHUTE_TYPE_POLYGON] = chute_decode_array,
    [CHUTE_TYPE_MULTI_POLYGON] = chute_decode_array,
    [CHUTE_TYPE_GEOMETRY] = chute_decode_variant,
    [CHUTE_TYPE_SIMPLE_AGGREGATE_FUNCTION] = chute_decode_same,
};

int chute_decode(chute_decoder *decoder, const chute_type *type, uint32_t cell) {
    chute_decode_value decode = DECODERS[type->kind];
    if (!decode) return chute_decode_fail(decoder, "%s cannot be decoded", type->name);
    if (decoder->depth == CHUTE_DECODE_DEPTH_MAX)
        return chute_decode_fail(decoder, "values in more than %d values", CHUTE_DECODE_DEPTH_MAX);
    decoder->depth++;
    int code = decode(decoder, type, cell);
    decoder->depth--;
    return code;
}

int chute_decode_open(chute_decoder *decoder, uint32_t cell, uint32_t kind, uint32_t len,
                      uint32_t children, uint32_t *first) {
    chute_cells *cells = decoder->cells;
    if (chute_cells_reserve(cells, children)) return chute_decode_no_memory(decoder);
    *first = cells->used;
    cells->used += children;
    chute_cell *opened = &cells->at[cell];
    opened->kind = kind;
    opened->len = len;
    opened->first = *first;
    return 0;
}

/* ---- texts -------------------------------------------------------------------------------- */

struct chute_text_chunk {
    struct chute_text_chunk *next;
    size_t used, size;
    char bytes[];
};

static struct chute_text_chunk *take_chunk(chute_decoder *decoder, size_t n) {
    struct chute_text_chunk *chunk = decoder->spare;
    if (chunk && chunk->size >= n) {
        decoder->spare = chunk->next;
        chunk->used = 0;
        return chunk;
    }
    size_t size = n > CHUNK_BYTES ? n : CHUNK_BYTES;
    chunk = malloc(sizeof *chunk + size);
    if (chunk) *chunk = (struct chute_text_chunk){.size = size};
    return chunk;
}

char *chute_decode_room(chute_decoder *decoder, size_t n) {
    struct chute_text_chunk *chunk = decoder->texts;
    if (!chunk || chunk->size - chunk->used < n) {
        chunk = take_chunk(decoder, n);
        if (!chunk) return NULL;
        chunk->next = decoder->texts;
        decoder->texts = chunk;
    }
    return chunk->bytes + chunk->used;
}

int chute_decode_text(chute_decoder *decoder, uint32_t index, const char *text, size_t len) {
    chute_cell *cell = chute_decode_cell(decoder, index);
    decoder->texts->used += len;
    cell->kind = CHUTE_CELL_STRING;
    cell->ptr = text;
    cell->len = (uint32_t)len;
    return 0;
}

void chute_decode_reset_texts(chute_decoder *decoder) {
    while (decoder->texts && decoder->texts->next) {
        struct chute_text_chunk *chunk = decoder->texts;
        decoder->texts = chunk->next;
        chunk->next = decoder->spare;
        decoder->spare = chunk;
    }
    if (decoder->texts) decoder->texts->used = 0;
}

static void free_chunks(struct chute_text_chunk *chunk) {
    while (chunk) {
        struct chute_text_chunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
}

void chute_decode_free_texts(chute_decoder *decoder) {
    free_chunks(decoder->texts);
    free_chunks(decoder->spare);
}
