#include "type_parser.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- failing ----------------------------------------------------------------------------- */

int chute_parser_fail(struct chute_parser *p, size_t at, const char *format, ...) {
    char message[600];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return chute_fail(p->err, CHUTE_E_SCHEMA, "at byte %zu: %s", at + 1, message);
}

int chute_parser_wants(struct chute_parser *p, const char *wanted) {
    char shown[CHUTE_QUOTE_MAX] = "the end of the text";
    size_t len = p->token.end - p->token.start;
    if (p->token.kind != CHUTE_TOKEN_END)
        chute_quote(p->text + p->token.start, len, shown, sizeof shown);
    return chute_parser_fail(p, p->token.start, "%s is wanted, not %s", wanted, shown);
}

int chute_parser_no_memory(struct chute_parser *p) {
    return chute_fail(p->err, CHUTE_E_NOMEM, "out of memory for a type");
}

void *chute_parser_alloc(struct chute_parser *p, size_t size) {
    void *memory = chute_type_alloc(&p->arena, size);
    if (!memory) chute_parser_no_memory(p);
    return memory;
}

/* ---- tokens ------------------------------------------------------------------------------ */

int chute_parser_advance(struct chute_parser *p) {
    p->token = chute_parser_peek(p);
    if (p->token.kind != CHUTE_TOKEN_BAD) return 0;
    return chute_parser_fail(p, p->token.start, "%s", p->token.problem);
}

struct chute_token chute_parser_peek(const struct chute_parser *p) {
    return chute_token_at(p->text, p->len, p->token.end);
}

bool chute_parser_at(const struct chute_parser *p, char punct) {
    return p->token.kind == CHUTE_TOKEN_PUNCT && p->text[p->token.start] == punct;
}

bool chute_parser_at_word(const struct chute_parser *p, const char *word) {
    return p->token.kind == CHUTE_TOKEN_WORD && p->token.end - p->token.start == strlen(word) &&
           strncasecmp(p->text + p->token.start, word, strlen(word)) == 0;
}

/* ---- lists ------------------------------------------------------------------------------- */

int chute_parser_begin(struct chute_parser *p) {
    if (!chute_parser_at(p, '(')) return 0;
    int code = chute_parser_advance(p);
    return code < 0 ? code : 1;
}

int chute_parser_more(struct chute_parser *p, bool first) {
    if (!first && chute_parser_at(p, ',')) {
        int code = chute_parser_advance(p);
        if (code < 0) return code;
    } else if (!first && !chute_parser_at(p, ')')) {
        return chute_parser_wants(p, "a comma or a closing parenthesis");
    }
    if (!chute_parser_at(p, ')')) return 1;
    return chute_parser_advance(p);
}

/* ---- items ------------------------------------------------------------------------------- */

static int decode(struct chute_parser *p, const char **out, size_t *len) {
    size_t decoded;
    char *text = chute_token_decode(p->text, p->token, &p->arena, &decoded);
    if (!text) return chute_parser_no_memory(p);
    if (!len && memchr(text, '\0', decoded))
        return chute_parser_fail(p, p->token.start, "a NUL byte inside a name");
    *out = text;
    if (len) *len = decoded;
    return chute_parser_advance(p);
}

static int copy_word(struct chute_parser *p, const char **out) {
    size_t len = p->token.end - p->token.start;
    char *copy = chute_parser_alloc(p, len + 1);
    if (!copy) return CHUTE_E_NOMEM;
    memcpy(copy, p->text + p->token.start, len);
    *out = copy;
    return chute_parser_advance(p);
}

int chute_parser_name(struct chute_parser *p, const char **name) {
    if (p->token.kind == CHUTE_TOKEN_WORD) return copy_word(p, name);
    bool empty = p->token.end - p->token.start == 2;
    if (p->token.kind != CHUTE_TOKEN_QUOTED || empty) return chute_parser_wants(p, "a name");
    return decode(p, name, NULL);
}

int chute_parser_string(struct chute_parser *p, const char **string, size_t *len) {
    if (p->token.kind != CHUTE_TOKEN_STRING) return chute_parser_wants(p, "a quoted text");
    return decode(p, string, len);
}

int chute_parser_integer(struct chute_parser *p, const char *what, uint64_t *value,
                         bool *negative) {
    *negative = chute_parser_at(p, '-');
    if (*negative || chute_parser_at(p, '+')) {
        int code = chute_parser_advance(p);
        if (code < 0) return code;
    }
    if (p->token.kind != CHUTE_TOKEN_NUMBER || !chute_token_integer(p->text, p->token, value)) {
        char wanted[80];
        snprintf(wanted, sizeof wanted, "a whole number for %s", what);
        return chute_parser_wants(p, wanted);
    }
    return chute_parser_advance(p);
}

int chute_parser_uint(struct chute_parser *p, const char *what, uint64_t low, uint64_t high,
                      uint32_t *value) {
    size_t at = p->token.start;
    uint64_t number;
    bool negative;
    int code = chute_parser_integer(p, what, &number, &negative);
    if (code < 0) return code;
    if (negative || number < low || number > high)
        return chute_parser_fail(p, at, "%s must be from %llu to %llu", what,
                                 (unsigned long long)low, (unsigned long long)high);
    *value = (uint32_t)number;
    return 0;
}

/* ---- children ---------------------------------------------------------------------------- */

static int grow(struct chute_parser *p, struct chute_children *list, bool named) {
    size_t capacity = list->capacity ? 2 * list->capacity : 4;
    struct chute_type **at = chute_parser_alloc(p, capacity * sizeof *at);
    const char **names = named ? chute_parser_alloc(p, capacity * sizeof *names) : NULL;
    if (!at || (named && !names)) return CHUTE_E_NOMEM;
    if (list->count) memcpy(at, list->at, list->count * sizeof *at);
    if (list->count && named) memcpy(names, list->names, list->count * sizeof *names);
    list->at = at;
    list->names = names;
    list->capacity = capacity;
    return 0;
}

int chute_children_add(struct chute_parser *p, struct chute_children *list,
                       struct chute_type *child, const char *name) {
    if (list->count == list->capacity && grow(p, list, name != NULL) < 0) return CHUTE_E_NOMEM;
    list->at[list->count] = child;
    if (name) list->names[list->count] = name;
    list->count++;
    return 0;
}

const char *chute_parser_canonical(struct chute_parser *p, const struct chute_type *type) {
    size_t len = chute_type_print(type, NULL, 0);
    char *text = chute_parser_alloc(p, len + 1);
    if (text) chute_type_print(type, text, len + 1);
    return text;
}
