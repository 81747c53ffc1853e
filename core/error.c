#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { QUOTED_BYTES = 64 };

int chute_fail(chute_error *err, int kind, const char *format, ...) {
    if (!err) return kind;
    memset(err, 0, offsetof(chute_error, message));
    err->kind = kind;
    err->column = -1;
    va_list args;
    va_start(args, format);
    vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    return kind;
}

/* Length of the UTF-8 sequence at `s`, or 0 where there is none. Surrogates and overlong forms
 * pass as text: this is for display only. */
static size_t utf8_len(const unsigned char *s, size_t left) {
    size_t n = s[0] < 0x80 ? 1 : s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : s[0] >= 0xC2 ? 2 : 0;
    if (n == 0 || n > left || s[0] > 0xF4) return 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xC0) != 0x80) return 0;
    return n;
}

/* Writes one character of the value, escaped where needed; the bytes of it that were read. */
static size_t quote_one(const unsigned char *s, size_t left, char *out, size_t *written) {
    size_t n = utf8_len(s, left);
    if (n == 0 || s[0] < 0x20 || s[0] == 0x7F) {
        *written = (size_t)snprintf(out, 5, "\\x%02X", s[0]);
        return 1;
    }
    size_t at = 0;
    if (s[0] == '\'' || s[0] == '\\') out[at++] = '\\';
    memcpy(out + at, s, n);
    *written = at + n;
    return n;
}

const char *chute_quote(const char *bytes, size_t len, char *out, size_t capacity) {
    const unsigned char *s = (const unsigned char *)bytes;
    size_t shown = len < QUOTED_BYTES ? len : QUOTED_BYTES;
    size_t at = 0;
    out[at++] = '\'';
    for (size_t i = 0; i < shown && at + 10 < capacity;) {
        size_t written;
        i += quote_one(s + i, len - i, out + at, &written);
        at += written;
    }
    out[at++] = '\'';
    if (len > shown) {
        memcpy(out + at, "…", sizeof "…" - 1);
        at += sizeof "…" - 1;
    }
    out[at] = '\0';
    return out;
}
