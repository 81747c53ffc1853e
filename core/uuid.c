#include "uuid.h"

#include <stdbool.h>
#include <string.h>
#include <sys/random.h>

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    c = (char)(c | 32);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool is_hyphen_place(size_t at) {
    return at == 8 || at == 13 || at == 18 || at == 23;
}

/* The byte of the wire where byte `i` of the text goes. */
static size_t wire_place(size_t i) {
    return i < 8 ? 7 - i : 23 - i;
}

int chute_parse_uuid(const char *s, size_t n, uint8_t wire[16]) {
    uint8_t bytes[16];
    bool hyphens = n == 36;
    if (!hyphens && n != 32) return -1;
    for (size_t at = 0, i = 0; i < 16; i++, at += 2) {
        if (hyphens && is_hyphen_place(at) && s[at++] != '-') return -1;
        int high = hex_digit(s[at]), low = hex_digit(s[at + 1]);
        if (high < 0 || low < 0) return -1;
        bytes[wire_place(i)] = (uint8_t)(high << 4 | low);
    }
    memcpy(wire, bytes, sizeof bytes);
    return 0;
}

int chute_uuid_v4(char out[CHUTE_UUID_TEXT]) {
    static const char digits[] = "0123456789abcdef";
    uint8_t bytes[16];
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) return -1;
    bytes[6] = (uint8_t)((bytes[6] & 0x0F) | 0x40);
    bytes[8] = (uint8_t)((bytes[8] & 0x3F) | 0x80);
    size_t at = 0;
    for (size_t i = 0; i < 16; i++) {
        if (is_hyphen_place(at)) out[at++] = '-';
        out[at++] = digits[bytes[i] >> 4];
        out[at++] = digits[bytes[i] & 15];
    }
    out[at] = '\0';
    return 0;
}
