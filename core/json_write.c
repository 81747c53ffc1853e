#include "json_write.h"

#include "number.h"
#include "shape.h"
#include "utf8.h"

#include <math.h>
#include <string.h>

/* What is claimed for a value that is no text: a number, a word, brackets; and a comma. */
enum { PLAIN = CHUTE_NUMBER_TEXT + 8 };

/* ---- text ---------------------------------------------------------------------------------- */

/* Bytes that the character at `s` takes inside quotes; 0: it is no UTF-8. `*read`: those it has. */
static size_t escaped_len(const uint8_t *s, size_t left, size_t *read) {
    *read = 1;
    if (*s == '"' || *s == '\\' || *s == '\n' || *s == '\t' || *s == '\r') return 2;
    if (*s < 0x20) return 6;
    return *read = chute_utf8_len(s, left);
}

/* The same of all characters; SIZE_MAX where some is none. */
static size_t measure(const uint8_t *s, size_t len) {
    size_t total = 0, read;
    for (size_t i = 0; i < len; i += read) {
        size_t n = escaped_len(s + i, len - i, &read);
        if (n == 0) return SIZE_MAX;
        total += n;
    }
    return total;
}

static uint8_t *put_escape(uint8_t c, uint8_t *out) {
    static const char hex[] = "0123456789abcdef";
    *out++ = '\\';
    switch (c) {
    case '\n': *out++ = 'n'; return out;
    case '\t': *out++ = 't'; return out;
    case '\r': *out++ = 'r'; return out;
    case '"':
    case '\\': *out++ = c; return out;
    default:
        memcpy(out, "u00", 3);
        out[3] = (uint8_t)hex[c >> 4];
        out[4] = (uint8_t)hex[c & 15];
        return out + 5;
    }
}

static bool is_plain(uint8_t c) {
    return c >= 0x20 && c != '"' && c != '\\';
}

static uint8_t *put_text(chute_row *row, const chute_cell *cell, uint8_t *out) {
    const uint8_t *s = (const uint8_t *)cell->ptr, *end = s + cell->len;
    size_t len = measure(s, cell->len);
    if (len == SIZE_MAX)
        return chute_row_refuse(row, cell, " is no UTF-8, which text in JSON must be");
    if (!chute_row_claim(row, len + PLAIN)) return NULL;
    *out++ = '"';
    while (s < end) {
        const uint8_t *from = s;
        while (s < end && is_plain(*s)) s++;
        memcpy(out, from, (size_t)(s - from));
        out += s - from;
        if (s < end) out = put_escape(*s++, out);
    }
    *out++ = '"';
    return out;
}

/* ---- numbers ------------------------------------------------------------------------------- */

/* Digits alone are an integer to a server, and an error past 64 bits. */
static uint8_t *put_number(chute_row *row, const chute_cell *cell, uint8_t *out) {
    if (!isfinite(cell->num)) return chute_row_refuse(row, cell, " is no number that JSON has");
    if (cell->num == 0) {
        *out = '0';
        return out + 1;
    }
    size_t len = chute_format_double(cell->num, (char *)out);
    if (!chute_is_whole(cell->num) && !memchr(out, '.', len) && !memchr(out, 'e', len)) {
        memcpy(out + len, ".0", 2);
        len += 2;
    }
    return out + len;
}

static uint8_t *put_word(const char *word, uint8_t *out) {
    size_t len = strlen(word);
    memcpy(out, word, len);
    return out + len;
}

/* ---- lists and objects --------------------------------------------------------------------- */

static uint8_t *put_list(chute_row *row, const chute_cell *cell, uint8_t *out) {
    const chute_cell *child = chute_row_children(row, cell, cell->len);
    if (!child) return NULL;
    *out++ = '[';
    for (uint32_t i = 0; i < cell->len; i++) {
        if (i) *out++ = ',';
        out = chute_json_write(row, child + i, out);
        if (!out)
            return chute_row_step(row,
                                  (struct chute_step){.kind = CHUTE_STEP_INDEX, .index = i + 1});
    }
    *out++ = ']';
    return out;
}

/* Numbers are keys of maps at typed paths alone. */
static uint8_t *put_key(chute_row *row, const chute_cell *key, uint8_t *out) {
    if (key->kind == CHUTE_CELL_STRING) return put_text(row, key, out);
    if (key->kind < CHUTE_CELL_NUMBER || key->kind > CHUTE_CELL_UINT64)
        return chute_row_refuse(row, key, " is no key of a JSON object");
    *out++ = '"';
    out = chute_json_write(row, key, out);
    if (out) *out++ = '"';
    return out;
}

static uint8_t *put_object(chute_row *row, const chute_cell *cell, uint8_t *out) {
    const chute_cell *key = chute_row_children(row, cell, chute_cell_parts(cell));
    if (!key) return NULL;
    *out++ = '{';
    for (uint32_t i = 0; i < cell->len; i++, key += 2) {
        if (i) *out++ = ',';
        out = put_key(row, key, out);
        if (out) *out++ = ':';
        if (out) out = chute_json_write(row, key + 1, out);
        if (!out)
            return chute_row_step(row, (struct chute_step){.kind = CHUTE_STEP_KEY, .key = key});
    }
    *out++ = '}';
    return out;
}

static uint8_t *put_typed(chute_row *row, const chute_cell *cell, uint8_t *out) {
    const chute_cell *parts = chute_row_children(row, cell, 2);
    return parts ? chute_json_write(row, parts + 1, out) : NULL;
}

uint8_t *chute_json_write(chute_row *row, const chute_cell *cell, uint8_t *out) {
    if (cell->kind == CHUTE_CELL_STRING) return put_text(row, cell, out);
    if (!chute_row_claim(row, PLAIN)) return NULL;
    switch (cell->kind) {
    case CHUTE_CELL_NULL: return put_word("null", out);
    case CHUTE_CELL_BOOL: return put_word(cell->u64 ? "true" : "false", out);
    case CHUTE_CELL_NUMBER: return put_number(row, cell, out);
    case CHUTE_CELL_INT64: return out + chute_format_i64(cell->i64, (char *)out);
    case CHUTE_CELL_UINT64: return out + chute_format_u64(cell->u64, (char *)out);
    case CHUTE_CELL_LIST: return put_list(row, cell, out);
    case CHUTE_CELL_PAIRS: return put_object(row, cell, out);
    case CHUTE_CELL_TYPED: return put_typed(row, cell, out);
    case CHUTE_CELL_ABSENT:
        return chute_row_refuse(row, cell, " inside a list: NULL is chute.null");
    default: return chute_row_refuse(row, cell, " has no form in JSON");
    }
}
