/* The text is read twice by the same functions: once to check it and to count the elements of each
 * list and object, then to fill the cells, which must lie together for each. */
#include "json_parse.h"

#include "number.h"
#include "utf8.h"

#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 100, FIRST_COUNTS = 64 };

struct chute_json_parser {
    const char *text;
    size_t len, at;
    const char *why; /* NULL: nothing is wrong */
    bool filling;
    chute_cells *cells;
    uint32_t *counts; /* elements of the lists and objects, in the order they open */
    size_t opened, capacity;
    char *decoded; /* texts with escapes, without them: never longer than the source */
    size_t decoded_len, decoded_capacity;
};

chute_json_parser *chute_json_parser_new(void) {
    chute_json_parser *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->cells = chute_cells_new(1);
    if (p->cells) return p;
    free(p);
    return NULL;
}

void chute_json_parser_free(chute_json_parser *p) {
    if (!p) return;
    chute_cells_free(p->cells);
    free(p->counts);
    free(p->decoded);
    free(p);
}

static bool fail(chute_json_parser *p, const char *why) {
    if (!p->why) p->why = why;
    return false;
}

/* ---- letters ------------------------------------------------------------------------------- */

static char peek(const chute_json_parser *p) {
    return p->at < p->len ? p->text[p->at] : '\0';
}

static void skip_blanks(chute_json_parser *p) {
    while (p->at < p->len && strchr(" \t\r\n", p->text[p->at]) && p->text[p->at]) p->at++;
}

static bool accept(chute_json_parser *p, char c) {
    skip_blanks(p);
    if (p->at == p->len || p->text[p->at] != c) return false;
    p->at++;
    return true;
}

static bool accept_word(chute_json_parser *p, const char *word) {
    size_t n = strlen(word);
    if (p->len - p->at < n || memcmp(p->text + p->at, word, n) != 0) return fail(p, "no JSON");
    p->at += n;
    return true;
}

/* ---- texts --------------------------------------------------------------------------------- */

static bool read_hex(chute_json_parser *p, uint32_t *code) {
    *code = 0;
    for (int i = 0; i < 4; i++, p->at++) {
        static const char digits[] = "0123456789abcdef0123456789ABCDEF";
        const char *digit = peek(p) ? strchr(digits, peek(p)) : NULL;
        if (!digit) return fail(p, "an escape without four hex digits");
        *code = *code << 4 | (uint32_t)((digit - digits) & 15);
    }
    return true;
}

/* After "\u": the character, of two escapes where it needs a pair. */
static bool read_unicode(chute_json_parser *p, uint32_t *code) {
    uint32_t low;
    if (!read_hex(p, code)) return false;
    if (*code < 0xD800 || *code > 0xDFFF) return true;
    if (*code > 0xDBFF || p->len - p->at < 6 || memcmp(p->text + p->at, "\\u", 2) != 0)
        return fail(p, "half a surrogate pair");
    p->at += 2;
    if (!read_hex(p, &low)) return false;
    if (low < 0xDC00 || low > 0xDFFF) return fail(p, "half a surrogate pair");
    *code = 0x10000 + ((*code - 0xD800) << 10 | (low - 0xDC00));
    return true;
}

static char *put_utf8(uint32_t code, char *out) {
    if (code < 0x80) {
        *out++ = (char)code;
        return out;
    }
    int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    *out++ = (char)((0xF0u << (3 - more)) | code >> 6 * more);
    while (more--) *out++ = (char)(0x80 | (code >> 6 * more & 0x3F));
    return out;
}

/* After a backslash. */
static bool read_escape(chute_json_parser *p, uint32_t *code) {
    static const char names[] = "\"\\/bfnrtu", meant[] = "\"\\/\b\f\n\r\t";
    const char *name = peek(p) ? strchr(names, peek(p)) : NULL;
    if (!name) return fail(p, "an unknown escape");
    p->at++;
    if (*name == 'u') return read_unicode(p, code);
    *code = (uint8_t)meant[name - names];
    return true;
}

/* Up to the closing quote; whether there were escapes, decoded to `out` where it is not NULL. */
static bool scan_text(chute_json_parser *p, char **out, bool *escapes) {
    *escapes = false;
    for (;;) {
        if (p->at == p->len) return fail(p, "a text without an end");
        const char *s = p->text + p->at;
        if (*s == '"') return true;
        if ((uint8_t)*s < 0x20) return fail(p, "a control character in a text");
        if (*s == '\\') {
            uint32_t code = 0;
            p->at++;
            *escapes = true;
            if (!read_escape(p, &code)) return false;
            if (*out) *out = put_utf8(code, *out);
            continue;
        }
        size_t n = chute_utf8_len((const uint8_t *)s, p->len - p->at);
        if (n == 0) return fail(p, "bytes that are no UTF-8");
        if (*out) memcpy(*out, s, n), *out += n;
        p->at += n;
    }
}

/* After the opening quote. */
static bool read_text(chute_json_parser *p, uint32_t cell) {
    size_t start = p->at;
    char *decoded = p->filling ? p->decoded + p->decoded_len : NULL, *end = decoded;
    bool escapes;
    if (!scan_text(p, &end, &escapes)) return false;
    p->at++;
    if (!p->filling) return true;
    chute_cell *to = p->cells->at + cell;
    to->kind = CHUTE_CELL_STRING;
    to->ptr = escapes ? decoded : p->text + start;
    to->len = (uint32_t)(escapes ? (size_t)(end - decoded) : p->at - 1 - start);
    if (escapes) p->decoded_len += to->len;
    return true;
}

/* ---- numbers ------------------------------------------------------------------------------- */

static size_t skip_digits(chute_json_parser *p) {
    size_t start = p->at;
    while (peek(p) >= '0' && peek(p) <= '9') p->at++;
    return p->at - start;
}

/* The form of a number, and whether it is an integer's. */
static bool scan_number(chute_json_parser *p, bool *integer) {
    *integer = true;
    if (peek(p) == '-') p->at++;
    bool zero = peek(p) == '0';
    size_t digits = skip_digits(p);
    if (digits == 0 || (zero && digits > 1)) return fail(p, "no JSON");
    if (peek(p) == '.') {
        *integer = false;
        p->at++;
        if (skip_digits(p) == 0) return fail(p, "a point without digits");
    }
    if (peek(p) == 'e' || peek(p) == 'E') {
        *integer = false;
        p->at++;
        if (peek(p) == '-' || peek(p) == '+') p->at++;
        if (skip_digits(p) == 0) return fail(p, "an exponent without digits");
    }
    return true;
}

static bool read_integer(const char *text, size_t len, chute_cell *cell) {
    if (chute_parse_i64(text, len, &cell->i64) == CHUTE_OK)
        cell->kind = CHUTE_CELL_INT64;
    else if (chute_parse_u64(text, len, &cell->u64) == CHUTE_OK)
        cell->kind = CHUTE_CELL_UINT64;
    else
        return false;
    return true;
}

static bool read_number(chute_json_parser *p, uint32_t index) {
    size_t start = p->at;
    bool integer;
    chute_cell cell = {.kind = CHUTE_CELL_NUMBER};
    if (!scan_number(p, &integer)) return false;
    const char *text = p->text + start;
    size_t len = p->at - start;
    if (integer ? !read_integer(text, len, &cell)
                : chute_parse_double(text, len, &cell.num) != CHUTE_OK)
        return fail(p, integer ? "an integer past 64 bits" : "a number past what a double holds");
    if (p->filling) p->cells->at[index] = cell;
    return true;
}

/* ---- values -------------------------------------------------------------------------------- */

static bool read_value(chute_json_parser *p, uint32_t cell, unsigned depth);

/* The element that begins a list or an object: its place among the counts. */
static bool open(chute_json_parser *p, size_t *slot) {
    *slot = p->opened++;
    if (p->filling || *slot < p->capacity) return true;
    size_t capacity = p->capacity ? p->capacity * 2 : FIRST_COUNTS;
    uint32_t *counts = realloc(p->counts, capacity * sizeof *counts);
    if (!counts) return fail(p, "more than memory holds");
    p->counts = counts;
    p->capacity = capacity;
    return true;
}

static bool take(chute_json_parser *p, uint32_t cell, uint32_t kind, size_t slot, uint32_t *first) {
    uint32_t count = p->counts[slot], parts = kind == CHUTE_CELL_PAIRS ? count * 2 : count;
    if (chute_cells_reserve(p->cells, parts) != CHUTE_OK) return fail(p, "more than memory holds");
    *first = p->cells->used;
    p->cells->used += parts;
    p->cells->at[cell] = (chute_cell){.first = *first, .len = count, .kind = kind};
    return true;
}

static bool read_key(chute_json_parser *p, uint32_t cell) {
    if (!accept(p, '"')) return fail(p, "a key without quotes");
    return read_text(p, cell) && (accept(p, ':') || fail(p, "a key without a colon"));
}

/* After the opening bracket. */
static bool read_all(chute_json_parser *p, uint32_t cell, bool object, unsigned depth) {
    char close = object ? '}' : ']';
    size_t slot;
    uint32_t count = 0, at = 0;
    if (depth > DEPTH_MAX) return fail(p, "more than 100 levels");
    if (!open(p, &slot)) return false;
    if (p->filling && !take(p, cell, object ? CHUTE_CELL_PAIRS : CHUTE_CELL_LIST, slot, &at))
        return false;
    if (!accept(p, close)) {
        do {
            if (object && !read_key(p, at++)) return false;
            if (!read_value(p, at++, depth)) return false;
            count++;
        } while (accept(p, ','));
        if (!accept(p, close)) return fail(p, "no comma and no closing bracket");
    }
    if (!p->filling) p->counts[slot] = count;
    return true;
}

static bool read_word(chute_json_parser *p, const char *word, uint32_t cell, uint32_t kind) {
    if (!accept_word(p, word)) return false;
    if (p->filling) p->cells->at[cell] = (chute_cell){.u64 = word[0] == 't', .kind = kind};
    return true;
}

static bool read_value(chute_json_parser *p, uint32_t cell, unsigned depth) {
    if (accept(p, '{')) return read_all(p, cell, true, depth + 1);
    if (accept(p, '[')) return read_all(p, cell, false, depth + 1);
    if (accept(p, '"')) return read_text(p, cell);
    switch (peek(p)) {
    case 't': return read_word(p, "true", cell, CHUTE_CELL_BOOL);
    case 'f': return read_word(p, "false", cell, CHUTE_CELL_BOOL);
    case 'n': return read_word(p, "null", cell, CHUTE_CELL_NULL);
    default: return read_number(p, cell);
    }
}

static bool read_object(chute_json_parser *p, bool filling) {
    p->at = p->opened = 0;
    p->filling = filling;
    if (!accept(p, '{')) return fail(p, "no object");
    if (!read_all(p, 0, true, 1)) return false;
    skip_blanks(p);
    return p->at == p->len || fail(p, "more after the object");
}

static bool reserve(chute_json_parser *p) {
    p->cells->used = 1;
    p->decoded_len = 0;
    if (p->decoded && p->len <= p->decoded_capacity) return true;
    free(p->decoded);
    p->decoded = malloc(p->len);
    p->decoded_capacity = p->decoded ? p->len : 0;
    return p->decoded || fail(p, "more than memory holds");
}

const chute_cells *chute_json_parse(chute_json_parser *p, const char *text, size_t len,
                                    const char **why, size_t *at) {
    p->text = text;
    p->len = len;
    p->why = NULL;
    if (read_object(p, false) && reserve(p) && read_object(p, true)) return p->cells;
    *why = p->why;
    *at = p->at;
    return NULL;
}
