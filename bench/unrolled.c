/* unrolled: the page-view row of examples/pageview.lua written out by hand, one statement a
 * column: what a compiler would make of the schema. It makes the same checks as the engine, with
 * the same copy routine, reserve and commit; where a check fails it says only that, and it knows
 * only the commonest kinds of value. */
#include "buffer.h"
#include "codec.h"
#include "date.h"
#include "decimal.h"
#include "wire.h"

enum { COLUMNS = 29, COLUMN_BOUND = 42, CHILD_BOUND = 42 };

static struct chute_date_cache cache;
static const double EXACT = 9007199254740992.0;

#define INLINE static inline __attribute__((always_inline))

INLINE bool whole(const chute_cell *cell, double high) {
    return cell->num >= 0 && cell->num <= high && (double)(int64_t)cell->num == cell->num;
}

INLINE uint8_t *put_uint(const chute_cell *cell, uint32_t width, uint64_t max, uint8_t *out) {
    double high = (double)max > EXACT ? EXACT : (double)max;
    uint64_t value;
    if (cell->kind == CHUTE_CELL_NUMBER && whole(cell, high))
        value = (uint64_t)cell->num;
    else if (cell->kind == CHUTE_CELL_UINT64 && cell->u64 <= max)
        value = cell->u64;
    else if (cell->kind == CHUTE_CELL_ABSENT || cell->kind == CHUTE_CELL_NULL)
        value = 0;
    else
        return NULL;
    return chute_put_int(out, value, width);
}

/* Short texts are in the bound, as in the engine. */
INLINE uint8_t *put_text(const chute_cell *cell, size_t *room, uint8_t *out) {
    if (cell->len > CHUTE_SHORT) {
        if (cell->len > *room) return NULL;
        *room -= cell->len;
    }
    return chute_put_string(out, cell->ptr, cell->len);
}

INLINE uint8_t *put_string(const chute_cell *cell, size_t *room, uint8_t *out) {
    if (cell->kind == CHUTE_CELL_STRING) return put_text(cell, room, out);
    if (cell->kind > CHUTE_CELL_NULL) return NULL;
    *out = 0;
    return out + 1;
}

INLINE uint8_t *put_fixed(const chute_cell *cell, uint32_t width, uint8_t *out) {
    if (cell->kind <= CHUTE_CELL_NULL) return chute_put_int(out, 0, width);
    if (cell->kind != CHUTE_CELL_STRING || cell->len > width) return NULL;
    chute_copy(out, cell->ptr, cell->len);
    memset(out + cell->len, 0, CHUTE_SHORT);
    return out + width;
}

INLINE uint8_t *put_datetime(const chute_cell *cell, uint8_t *out) {
    int64_t seconds = 0;
    if (cell->kind == CHUTE_CELL_STRING) {
        if (chute_parse_datetime(cell->ptr, cell->len, NULL, 0, &cache, &seconds)) return NULL;
        if (seconds < 0 || seconds > UINT32_MAX) return NULL;
    } else if (cell->kind == CHUTE_CELL_NUMBER && whole(cell, UINT32_MAX)) {
        seconds = (int64_t)cell->num;
    } else if (cell->kind > CHUTE_CELL_NULL) {
        return NULL;
    }
    return chute_put_int(out, (uint64_t)seconds, 4);
}

INLINE uint8_t *put_strings(const chute_cells *cells, const chute_cell *cell, uint32_t *next,
                            size_t *room, uint8_t *out) {
    if (cell->kind <= CHUTE_CELL_NULL) {
        *out = 0;
        return out + 1;
    }
    if (cell->kind != CHUTE_CELL_LIST || cell->first < *next || cell->first > cells->used ||
        cell->len > cells->used - cell->first)
        return NULL;
    *next = cell->first + cell->len;
    out = chute_put_leb(out, cell->len);
    for (uint32_t i = 0; i < cell->len; i++) {
        const chute_cell *child = cells->at + cell->first + i;
        if (child->kind != CHUTE_CELL_STRING) return NULL;
        if (!(out = put_text(child, room, out))) return NULL;
    }
    return out;
}

INLINE uint8_t *put_amount(const chute_cell *cell, uint8_t *out) {
    chute_int256 value;
    *out++ = cell->kind <= CHUTE_CELL_NULL;
    if (cell->kind <= CHUTE_CELL_NULL) return out;
    if (cell->kind != CHUTE_CELL_STRING ||
        chute_parse_decimal(cell->ptr, cell->len, 18, 3, &value) != CHUTE_OK)
        return NULL;
    return chute_put_int(out, value.limb[0], 8);
}

#define PUT(expression)                                                                            \
    if (!(out = (expression))) return NULL

static uint8_t *encode(const chute_cells *cells, size_t room, uint8_t *out) {
    const chute_cell *cell = cells->at;
    uint32_t next = COLUMNS;
    PUT(put_string(cell + 0, &room, out));                /* name */
    PUT(put_uint(cell + 1, 8, UINT64_MAX, out));          /* site_id */
    PUT(put_string(cell + 2, &room, out));                /* hostname */
    PUT(put_string(cell + 3, &room, out));                /* pathname */
    PUT(put_uint(cell + 4, 8, UINT64_MAX, out));          /* user_id */
    PUT(put_uint(cell + 5, 8, UINT64_MAX, out));          /* session_id */
    PUT(put_datetime(cell + 6, out));                     /* timestamp */
    PUT(put_strings(cells, cell + 7, &next, &room, out)); /* meta.key */
    PUT(put_strings(cells, cell + 8, &next, &room, out)); /* meta.value */
    PUT(put_amount(cell + 9, out));                       /* revenue_source_amount */
    PUT(put_fixed(cell + 10, 3, out));                    /* revenue_source_currency */
    PUT(put_amount(cell + 11, out));                      /* revenue_reporting_amount */
    PUT(put_fixed(cell + 12, 3, out));                    /* revenue_reporting_currency */
    PUT(put_string(cell + 13, &room, out));               /* referrer */
    PUT(put_string(cell + 14, &room, out));               /* referrer_source */
    PUT(put_string(cell + 15, &room, out));               /* utm_medium */
    PUT(put_string(cell + 16, &room, out));               /* utm_source */
    PUT(put_string(cell + 17, &room, out));               /* utm_campaign */
    PUT(put_string(cell + 18, &room, out));               /* utm_content */
    PUT(put_string(cell + 19, &room, out));               /* utm_term */
    PUT(put_fixed(cell + 20, 2, out));                    /* country_code */
    PUT(put_string(cell + 21, &room, out));               /* subdivision1_code */
    PUT(put_string(cell + 22, &room, out));               /* subdivision2_code */
    PUT(put_uint(cell + 23, 4, UINT32_MAX, out));         /* city_geoname_id */
    PUT(put_string(cell + 24, &room, out));               /* screen_size */
    PUT(put_string(cell + 25, &room, out));               /* operating_system */
    PUT(put_string(cell + 26, &room, out));               /* operating_system_version */
    PUT(put_string(cell + 27, &room, out));               /* browser */
    PUT(put_string(cell + 28, &room, out));               /* browser_version */
    return out;
}

/* chute_buffer_add for rows of that schema. */
__attribute__((visibility("default"))) int unrolled_add(chute_buffer *buffer,
                                                        const chute_cells *cells) {
    uint64_t word = atomic_load_explicit(buffer->word, memory_order_relaxed);
    size_t bytes = chute_word_bytes(word);
    size_t least = COLUMNS * COLUMN_BOUND + (size_t)(cells->used - COLUMNS) * CHILD_BOUND;
    if (least > buffer->capacity - bytes) return CHUTE_E_FULL;
    if (chute_word_rows(word) >= CHUTE_BUFFER_MAX_ROWS) return CHUTE_E_FULL;
    uint8_t *out = buffer->data + buffer->header_len + bytes;
    uint8_t *end = encode(cells, buffer->capacity - bytes - least, out);
    if (!end) return CHUTE_E_ROW;
    if ((size_t)(end - out) > buffer->ceiling - bytes) return CHUTE_E_FULL;
    uint64_t rows = chute_word_rows(word) + 1;
    atomic_store_explicit(buffer->word,
                          rows << CHUTE_WORD_BYTES_BITS | (bytes + (size_t)(end - out)),
                          memory_order_release);
    return CHUTE_OK;
}
