/* utf8: what of some bytes is UTF-8. */
#ifndef CHUTE_UTF8_H
#define CHUTE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the character that begins at `s`, of `n` (at least 1) there: 1 to 4; 0 where there is
 * none: cut off, overlong, a surrogate, past U+10FFFF. */
static inline size_t chute_utf8_len(const uint8_t *s, size_t n) {
    if (s[0] < 0x80) return 1;
    size_t len = s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
    if (s[0] < 0xC2 || s[0] > 0xF4 || len > n) return 0;
    if (s[0] == 0xE0 && s[1] < 0xA0) return 0;
    if (s[0] == 0xED && s[1] > 0x9F) return 0;
    if (s[0] == 0xF0 && s[1] < 0x90) return 0;
    if (s[0] == 0xF4 && s[1] > 0x8F) return 0;
    for (size_t i = 1; i < len; i++)
        if ((s[i] & 0xC0) != 0x80) return 0;
    return len;
}

#endif
