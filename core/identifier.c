#include "identifier.h"

#include <stdbool.h>
#include <string.h>

static char *quote_byte(char byte, char *out) {
    static const char hex[] = "0123456789ABCDEF";
    if (byte == '`' || byte == '\\') {
        *out++ = '\\';
        *out++ = byte;
    } else if ((unsigned char)byte < 0x20) {
        *out++ = '\\';
        *out++ = 'x';
        *out++ = hex[(unsigned char)byte >> 4];
        *out++ = hex[byte & 15];
    } else {
        *out++ = byte;
    }
    return out;
}

char *chute_identifier_quote(const char *name, size_t len, char *out) {
    *out++ = '`';
    for (size_t i = 0; i < len; i++) out = quote_byte(name[i], out);
    *out++ = '`';
    *out = '\0';
    return out;
}

/* A part up to a dot or the end. */
static const char *quote_bare(const char *at, const char *end, char **out) {
    const char *dot = memchr(at, '.', (size_t)(end - at));
    const char *stop = dot ? dot : end;
    if (stop == at || memchr(at, '`', (size_t)(stop - at))) return NULL;
    *out = chute_identifier_quote(at, (size_t)(stop - at), *out);
    return stop;
}

/* A part in backquotes; the place after the closing one. */
static const char *quote_quoted(const char *at, const char *end, char **out) {
    char *to = *out;
    const char *first = ++at;
    *to++ = '`';
    for (; at < end; at++) {
        bool doubled = *at == '`' && at + 1 < end && at[1] == '`';
        if (*at == '`' && !doubled) break;
        if (doubled || (*at == '\\' && at + 1 < end)) at++;
        to = quote_byte(*at, to);
    }
    if (at >= end || at == first) return NULL;
    *to++ = '`';
    *to = '\0';
    *out = to;
    return at + 1;
}

char *chute_identifier_quote_table(const char *name, size_t len, char *out) {
    const char *at = name, *end = name + len;
    if (memchr(name, '\0', len)) return NULL;
    for (int part = 0; part < 2; part++) {
        if (at == end) return NULL;
        at = *at == '`' ? quote_quoted(at, end, &out) : quote_bare(at, end, &out);
        if (!at) return NULL;
        if (at == end) return out;
        if (*at++ != '.') return NULL;
        *out++ = '.';
    }
    return NULL;
}
