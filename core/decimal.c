#include "decimal.h"

#include "number.h"

#include <math.h>
#include <string.h>

enum { CHUNK = 18, EXPONENT_MAX = 100000 };

static const uint64_t POWERS[] = {1ull,
                                  10ull,
                                  100ull,
                                  1000ull,
                                  10000ull,
                                  100000ull,
                                  1000000ull,
                                  10000000ull,
                                  100000000ull,
                                  1000000000ull,
                                  10000000000ull,
                                  100000000000ull,
                                  1000000000000ull,
                                  10000000000000ull,
                                  100000000000000ull,
                                  1000000000000000ull,
                                  10000000000000000ull,
                                  100000000000000000ull,
                                  1000000000000000000ull};

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* ---- 256 bits ------------------------------------------------------------------------------ */

/* value = value × by + plus; false where that takes more than 256 bits. */
static bool multiply_add(chute_int256 *value, uint64_t by, uint64_t plus) {
    unsigned __int128 carry = plus;
    for (int i = 0; i < 4; i++) {
        carry += (unsigned __int128)value->limb[i] * by;
        value->limb[i] = (uint64_t)carry;
        carry >>= 64;
    }
    return carry == 0;
}

static void negate(chute_int256 *value) {
    unsigned __int128 carry = 1;
    for (int i = 0; i < 4; i++) {
        carry += ~value->limb[i];
        value->limb[i] = (uint64_t)carry;
        carry >>= 64;
    }
}

/* Digits gathered into a 256-bit number, 18 at a time. */
struct sum {
    chute_int256 value;
    uint64_t chunk;
    uint32_t pending; /* digits in `chunk` */
    bool over;
};

static void flush(struct sum *sum) {
    sum->over |= !multiply_add(&sum->value, POWERS[sum->pending], sum->chunk);
    sum->chunk = 0;
    sum->pending = 0;
}

static void add_digit(struct sum *sum, char digit) {
    sum->chunk = sum->chunk * 10 + (uint64_t)(digit - '0');
    if (++sum->pending == CHUNK) flush(sum);
}

static void add_zeroes(struct sum *sum, uint32_t count) {
    flush(sum);
    for (; count > CHUNK; count -= CHUNK) sum->over |= !multiply_add(&sum->value, POWERS[CHUNK], 0);
    sum->over |= !multiply_add(&sum->value, POWERS[count], 0);
}

static void finish(struct sum *sum, bool negative, chute_int256 *out) {
    *out = sum->value;
    if (negative) negate(out);
}

/* ---- text ---------------------------------------------------------------------------------- */

/* A number as its digits from the first to the last that is not 0: those in [first, last] of the
 * text, a point among them left out, × 10^exponent. No digits: zero. */
struct parts {
    bool negative;
    size_t first, last;
    int64_t count;
    int64_t exponent;
};

static bool scan_exponent(const char *s, size_t n, int64_t *exponent) {
    size_t at = n > 0 && (s[0] == '-' || s[0] == '+');
    int64_t value = 0;
    if (at == n) return false;
    for (size_t i = at; i < n; i++) {
        if (!is_digit(s[i])) return false;
        if (value < EXPONENT_MAX) value = value * 10 + (s[i] - '0');
    }
    *exponent += s[0] == '-' ? -value : value;
    return true;
}

static void note_digit(struct parts *out, size_t at, int64_t place) {
    if (out->count == 0) out->first = at;
    out->last = at;
    out->count = 1;
    out->exponent = place;
}

/* How many digits there are from the first to the last. */
static int64_t count_digits(const char *s, const struct parts *parts) {
    if (parts->count == 0) return 0;
    const char *from = s + parts->first;
    size_t span = parts->last - parts->first + 1;
    return (int64_t)span - (memchr(from, '.', span) != NULL);
}

/* Gathers digits up to anything else; where that is. `place` goes down by the digit. */
static size_t scan_digits(const char *s, size_t n, size_t at, int64_t place, struct parts *out) {
    for (; at < n && is_digit(s[at]); at++, place--)
        if (s[at] != '0') note_digit(out, at, place);
    return at;
}

static bool scan(const char *s, size_t n, struct parts *out) {
    memset(out, 0, sizeof *out);
    size_t start = n > 0 && (s[0] == '-' || s[0] == '+'), whole = start;
    out->negative = start && s[0] == '-';
    while (whole < n && is_digit(s[whole])) whole++;
    scan_digits(s, whole, start, (int64_t)(whole - start) - 1, out);
    size_t at = whole, digits = whole - start;
    if (at < n && s[at] == '.') {
        at = scan_digits(s, n, at + 1, -1, out);
        digits += at - whole - 1;
    }
    out->count = count_digits(s, out);
    if (digits == 0) return false;
    if (at == n) return true;
    return (s[at] | 32) == 'e' && scan_exponent(s + at + 1, n - at - 1, &out->exponent);
}

int chute_parse_decimal(const char *s, size_t n, uint32_t precision, uint32_t scale,
                        chute_int256 *value) {
    struct parts parts;
    struct sum sum = {0};
    if (!scan(s, n, &parts)) return CHUTE_DECIMAL_SYNTAX;
    if (parts.count > 0) {
        int64_t zeroes = parts.exponent + scale;
        if (zeroes < 0) return CHUTE_DECIMAL_INEXACT;
        if (parts.count + zeroes > precision) return CHUTE_DECIMAL_RANGE;
        for (size_t i = parts.first; i <= parts.last; i++)
            if (s[i] != '.') add_digit(&sum, s[i]);
        add_zeroes(&sum, (uint32_t)zeroes);
    }
    finish(&sum, parts.negative, value);
    return 0;
}

/* ---- double -------------------------------------------------------------------------------- */

/* Keeps `keep` of the digits, halves going up; a carry out of the first adds a digit. The number
 * of digits left. */
static size_t round_digits(char *digits, size_t count, size_t keep, int *exponent) {
    if (keep >= count) return count;
    bool up = digits[keep] >= '5';
    size_t i = keep;
    while (up && i > 0) {
        up = digits[--i] == '9';
        digits[i] = up ? '0' : (char)(digits[i] + 1);
    }
    if (!up) return keep;
    memmove(digits + 1, digits, keep);
    digits[0] = '1';
    *exponent += 1;
    return keep + 1;
}

int chute_decimal_from_double(double number, uint32_t precision, uint32_t scale,
                              chute_int256 *value) {
    char digits[20];
    int exponent = 0;
    struct sum sum = {0};
    if (!isfinite(number)) return CHUTE_DECIMAL_SYNTAX;
    size_t count = number == 0 ? 0 : chute_double_digits(fabs(number), digits, &exponent);
    int64_t keep = exponent + (int64_t)scale;
    if (keep < 0) count = 0;
    if (count) count = round_digits(digits, count, (size_t)keep, &exponent);
    int64_t length = count ? exponent + (int64_t)scale : 0; /* digits of the scaled number */
    if (length > precision) return CHUTE_DECIMAL_RANGE;
    for (size_t i = 0; i < count; i++) add_digit(&sum, digits[i]);
    add_zeroes(&sum, (uint32_t)(length - (int64_t)count));
    finish(&sum, number < 0, value);
    return 0;
}

/* ---- integers ------------------------------------------------------------------------------ */

/* Whether a magnitude fits in `bits` bits. */
static bool fits(const chute_int256 *value, uint32_t bits) {
    uint32_t limb = bits / 64;
    uint64_t over = limb < 4 ? value->limb[limb] >> (bits % 64) : 0;
    for (uint32_t i = limb + 1; i < 4; i++) over |= value->limb[i];
    return over == 0;
}

/* Whether the magnitude is 2^bit, the one that only negative numbers reach. */
static bool is_power(const chute_int256 *value, uint32_t bit) {
    chute_int256 power = {{0}};
    power.limb[bit / 64] = 1ull << (bit % 64);
    return memcmp(value, &power, sizeof power) == 0;
}

int chute_parse_integer(const char *s, size_t n, uint32_t bits, bool is_signed,
                        chute_int256 *value) {
    size_t start = n > 0 && (s[0] == '-' || s[0] == '+');
    bool negative = start && s[0] == '-';
    struct sum sum = {0};
    if (start == n) return CHUTE_DECIMAL_SYNTAX;
    for (size_t i = start; i < n; i++) {
        if (!is_digit(s[i])) return CHUTE_DECIMAL_SYNTAX;
        add_digit(&sum, s[i]);
    }
    flush(&sum);
    bool zero = fits(&sum.value, 0);
    bool good = is_signed
                    ? fits(&sum.value, bits - 1) || (negative && is_power(&sum.value, bits - 1))
                    : fits(&sum.value, bits) && (!negative || zero);
    if (sum.over || !good) return CHUTE_DECIMAL_RANGE;
    finish(&sum, negative, value);
    return 0;
}
