/* Scaled integers of up to 256 bits as decimal text. */
#include "decimal.h"

#include <string.h>

enum { LIMB_DIGITS = 18 };

static const uint64_t LIMB_BASE = 1000000000000000000ull;

static bool is_zero(const chute_int256 *value) {
    return !(value->limb[0] | value->limb[1] | value->limb[2] | value->limb[3]);
}

static void negate(chute_int256 *value) {
    unsigned __int128 carry = 1;
    for (int i = 0; i < 4; i++) {
        carry += ~value->limb[i];
        value->limb[i] = (uint64_t)carry;
        carry >>= 64;
    }
}

/* Divides by 10^18 and returns the rest. */
static uint64_t divide(chute_int256 *value) {
    unsigned __int128 rest = 0;
    for (int i = 4; i-- > 0;) {
        rest = rest << 64 | value->limb[i];
        value->limb[i] = (uint64_t)(rest / LIMB_BASE);
        rest %= LIMB_BASE;
    }
    return (uint64_t)rest;
}

/* The digits of a magnitude, the last one at `end` - 1, at least `least` of them. The first. */
static char *write_digits(chute_int256 value, uint32_t least, char *end) {
    char *at = end;
    while (!is_zero(&value)) {
        uint64_t chunk = divide(&value);
        bool last = is_zero(&value);
        for (int i = 0; i < LIMB_DIGITS && (chunk || !last); i++, chunk /= 10)
            *--at = (char)('0' + chunk % 10);
    }
    while (end - at < (ptrdiff_t)least) *--at = '0';
    return at;
}

size_t chute_format_decimal(const chute_int256 *number, bool is_signed, uint32_t scale, char *out) {
    char digits[CHUTE_DECIMAL_TEXT];
    char *end = digits + sizeof digits, *point = end - scale;
    chute_int256 value = *number;
    bool negative = is_signed && value.limb[3] >> 63;
    if (negative) negate(&value);
    const char *first = write_digits(value, scale + 1, end);
    while (end > point && end[-1] == '0') end--;
    char *at = out;
    if (negative) *at++ = '-';
    size_t whole = (size_t)(point - first), part = (size_t)(end - point);
    memcpy(at, first, whole);
    at += whole;
    if (part) {
        *at++ = '.';
        memcpy(at, point, part);
        at += part;
    }
    return (size_t)(at - out);
}
