#include "text.h"

#include "url.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST = 256 };

/* Makes room for `more` bytes and a NUL. */
static bool reserve(chute_text *text, size_t more) {
    if (text->failed) return false;
    size_t wanted;
    if (__builtin_add_overflow(text->len, more, &wanted) || wanted == SIZE_MAX ||
        (text->limit && wanted > text->limit))
        return !(text->failed = true);
    if (wanted < text->capacity) return true;
    size_t grown = text->capacity < FIRST ? FIRST : text->capacity;
    while (grown <= wanted) grown = grown > SIZE_MAX / 2 ? SIZE_MAX : grown * 2;
    char *at = realloc(text->at, grown);
    if (!at) return !(text->failed = true);
    text->at = at;
    text->capacity = grown;
    return true;
}

bool chute_text_add(chute_text *text, const char *bytes, size_t len) {
    if (!reserve(text, len)) return false;
    if (len) memcpy(text->at + text->len, bytes, len);
    text->len += len;
    text->at[text->len] = '\0';
    return true;
}

bool chute_text_print(chute_text *text, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (len < 0 || !reserve(text, (size_t)len)) return false;
    va_start(args, format);
    vsnprintf(text->at + text->len, (size_t)len + 1, format, args);
    va_end(args);
    text->len += (size_t)len;
    return true;
}

bool chute_text_escape(chute_text *text, const char *bytes, size_t len) {
    if (len > SIZE_MAX / 4) return !(text->failed = true);
    if (!reserve(text, 3 * len)) return false;
    text->len += chute_url_escape(text->at + text->len, bytes, len);
    return true;
}

bool chute_text_quote(chute_text *text, char quote, const char *bytes) {
    chute_text_add(text, &quote, 1);
    for (; *bytes; bytes++) {
        if (*bytes == quote || *bytes == '\\') chute_text_add(text, "\\", 1);
        chute_text_add(text, bytes, 1);
    }
    return chute_text_add(text, &quote, 1);
}

void chute_text_reset(chute_text *text) {
    text->len = 0;
    text->failed = false;
    if (text->at) text->at[0] = '\0';
}

void chute_text_clear(chute_text *text) {
    free(text->at);
    *text = (chute_text){.limit = text->limit};
}
