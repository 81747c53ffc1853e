#include "type_lex.h"

#include <string.h>

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_word(char c) {
    return is_letter(c) || is_digit(c) || c == '_' || c == '$';
}

static bool is_blank(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static int hex_digit(char c) {
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* Past one blank or comment; `at` itself where there is none, `len + 1` where a comment never ends.
 */
static size_t skip_one(const char *text, size_t len, size_t at) {
    if (is_blank(text[at])) return at + 1;
    if (len - at < 2) return at;
    const char *found = NULL;
    if (memcmp(text + at, "--", 2) == 0) {
        found = memchr(text + at, '\n', len - at);
        return found ? (size_t)(found - text) + 1 : len;
    }
    if (memcmp(text + at, "/*", 2) != 0) return at;
    found = memmem(text + at + 2, len - at - 2, "*/", 2);
    return found ? (size_t)(found - text) + 2 : len + 1;
}

static struct chute_token bad(size_t at, const char *problem) {
    return (struct chute_token){CHUTE_TOKEN_BAD, at, at, problem};
}

/* The end of a quoted token is its first quote that is neither doubled nor escaped. */
static struct chute_token quoted(const char *text, size_t len, size_t at) {
    char quote = text[at];
    size_t i = at + 1;
    while (i < len) {
        if (text[i] == '\\') {
            if (i + 1 < len && text[i + 1] == 'x' &&
                (len - i < 4 || hex_digit(text[i + 2]) < 0 || hex_digit(text[i + 3]) < 0))
                return bad(i, "\\x wants two hex digits");
            i += 2;
        } else if (text[i] != quote) {
            i++;
        } else if (i + 1 < len && text[i + 1] == quote) {
            i += 2;
        } else {
            int kind = quote == '\'' ? CHUTE_TOKEN_STRING : CHUTE_TOKEN_QUOTED;
            return (struct chute_token){kind, at, i + 1, NULL};
        }
    }
    return bad(at, "a quote that nothing closes");
}

static size_t number_end(const char *text, size_t len, size_t at) {
    bool hex = len - at > 1 && text[at] == '0' && (text[at + 1] | 32) == 'x';
    size_t i = at;
    while (i < len && (is_word(text[i]) || text[i] == '.')) {
        bool exponent = !hex && (text[i] | 32) == 'e';
        i++;
        if (exponent && i < len && (text[i] == '+' || text[i] == '-')) i++;
    }
    return i;
}

struct chute_token chute_token_at(const char *text, size_t len, size_t at) {
    size_t next = at;
    while (next < len && (next = skip_one(text, len, at)) != at && next <= len) at = next;
    if (next > len) return bad(at, "a comment that nothing closes");
    if (at >= len) return (struct chute_token){CHUTE_TOKEN_END, len, len, NULL};
    char c = text[at];
    if (c == '\'' || c == '`' || c == '"') return quoted(text, len, at);
    if (is_digit(c) || (c == '.' && at + 1 < len && is_digit(text[at + 1])))
        return (struct chute_token){CHUTE_TOKEN_NUMBER, at, number_end(text, len, at), NULL};
    size_t end = at;
    while (end < len && is_word(text[end])) end++;
    if (end > at) return (struct chute_token){CHUTE_TOKEN_WORD, at, end, NULL};
    return (struct chute_token){CHUTE_TOKEN_PUNCT, at, at + 1, NULL};
}

/* Writes what an escape `\c` other than \xNN stands for. One the server does not know keeps its
 * backslash; \N, which it takes for a NULL among text, leaves nothing. */
static size_t unescape(char c, char *out) {
    static const char from[] = "abefnrtv0";
    static const char to[] = "\a\b\x1B\f\n\r\t\v";
    if (c == 'N') return 0;
    const char *known = c ? strchr(from, c) : NULL;
    size_t at = 0;
    bool keeps = !known && !strchr("\\'\"`/", c) && (unsigned char)c >= 32;
    if (keeps) out[at++] = '\\';
    out[at++] = known ? to[known - from] : c;
    return at;
}

char *chute_token_decode(const char *text, struct chute_token token, struct chute_type_arena *arena,
                         size_t *len) {
    char *out = chute_type_alloc(arena, token.end - token.start);
    if (!out) return NULL;
    char quote = text[token.start];
    size_t at = 0, i = token.start + 1, end = token.end - 1;
    while (i < end) {
        if (text[i] == '\\' && text[i + 1] == 'x') {
            out[at++] = (char)(hex_digit(text[i + 2]) * 16 + hex_digit(text[i + 3]));
            i += 4;
        } else if (text[i] == '\\') {
            at += unescape(text[i + 1], out + at);
            i += 2;
        } else {
            i += text[i] == quote ? 2 : 1;
            out[at++] = text[i - 1];
        }
    }
    out[at] = '\0';
    *len = at;
    return out;
}

static unsigned number_base(const char *s, size_t n) {
    if (n < 3 || s[0] != '0') return 10;
    return (s[1] | 32) == 'x' ? 16 : (s[1] | 32) == 'b' ? 2 : 10;
}

bool chute_token_integer(const char *text, struct chute_token token, uint64_t *value) {
    const char *s = text + token.start;
    size_t n = token.end - token.start;
    unsigned base = number_base(s, n);
    uint64_t sum = 0;
    bool digit_before = false;
    for (size_t i = base == 10 ? 0 : 2; i < n; i++) {
        bool underscore = s[i] == '_';
        int digit = underscore ? 0 : hex_digit(s[i]);
        if (underscore ? !digit_before : digit < 0 || (unsigned)digit >= base) return false;
        digit_before = !underscore;
        if (underscore) continue;
        if (__builtin_mul_overflow(sum, (uint64_t)base, &sum) ||
            __builtin_add_overflow(sum, (uint64_t)digit, &sum))
            return false;
    }
    *value = sum;
    return digit_before;
}
