#include "number.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { TEXT_MAX = 4096, EXACT_POWER = 22, EXACT_DIGITS = 15 };

/* The powers of ten that a double holds exactly. */
static const double POWERS[EXACT_POWER + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                               1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                               1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* ---- whole numbers ------------------------------------------------------------------------ */

/* Digits alone; 19 of them cannot overflow. */
static int parse_digits(const char *s, size_t n, uint64_t *value) {
    uint64_t sum = 0;
    bool over = false;
    if (n == 0) return CHUTE_NUMBER_SYNTAX;
    for (size_t i = 0; i < n; i++) {
        if (!is_digit(s[i])) return CHUTE_NUMBER_SYNTAX;
        uint64_t digit = (uint64_t)(s[i] - '0');
        if (i < 19)
            sum = sum * 10 + digit;
        else
            over |=
                __builtin_mul_overflow(sum, 10u, &sum) || __builtin_add_overflow(sum, digit, &sum);
    }
    if (over) return CHUTE_NUMBER_RANGE;
    *value = sum;
    return 0;
}

static size_t skip_sign(const char *s, size_t n, bool *negative) {
    *negative = n > 0 && s[0] == '-';
    return n > 0 && (s[0] == '-' || s[0] == '+');
}

int chute_parse_u64(const char *s, size_t n, uint64_t *value) {
    bool negative;
    uint64_t magnitude;
    size_t sign = skip_sign(s, n, &negative);
    int code = parse_digits(s + sign, n - sign, &magnitude);
    if (code < 0) return code;
    if (negative && magnitude) return CHUTE_NUMBER_RANGE;
    *value = magnitude;
    return 0;
}

int chute_parse_i64(const char *s, size_t n, int64_t *value) {
    bool negative;
    uint64_t magnitude;
    size_t sign = skip_sign(s, n, &negative);
    int code = parse_digits(s + sign, n - sign, &magnitude);
    if (code < 0) return code;
    if (magnitude > (uint64_t)INT64_MAX + negative) return CHUTE_NUMBER_RANGE;
    *value = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    return 0;
}

/* Two digits at a time, from the end. */
size_t chute_format_u64(uint64_t value, char *out) {
    static const char pairs[] =
        "00010203040506070809101112131415161718192021222324252627282930313233"
        "34353637383940414243444546474849505152535455565758596061626364656667"
        "68697071727374757677787980818283848586878889909192939495969798"
        "99";
    char digits[20];
    size_t at = sizeof digits;
    while (value >= 100) {
        memcpy(digits + (at -= 2), pairs + value % 100 * 2, 2);
        value /= 100;
    }
    if (value >= 10)
        memcpy(digits + (at -= 2), pairs + value * 2, 2);
    else
        digits[--at] = (char)('0' + value);
    memcpy(out, digits + at, sizeof digits - at);
    return sizeof digits - at;
}

size_t chute_format_i64(int64_t value, char *out) {
    if (value >= 0) return chute_format_u64((uint64_t)value, out);
    out[0] = '-';
    return 1 + chute_format_u64(0 - (uint64_t)value, out + 1);
}

/* ---- text to double ----------------------------------------------------------------------- */

/* The digits of a number, gathered: value = digits × 10^exponent. */
struct scanned {
    char digits[TEXT_MAX + 16]; /* room for "e-2147483648" after them */
    size_t count;
    int exponent;
    uint64_t small; /* the same digits as a number, while count <= 19 */
};

static void add_digit(struct scanned *n, char c) {
    if (n->count == 0 && c == '0') return;
    if (n->count < 19) n->small = n->small * 10 + (uint64_t)(c - '0');
    n->digits[n->count++] = c;
}

/* The exponent is bounded, far past where every number is 0 or infinite. */
static bool scan_exponent(const char *s, size_t n, size_t *at, int *exponent) {
    bool negative;
    int sum = 0;
    *at += 1;
    *at += skip_sign(s + *at, n - *at, &negative);
    if (*at == n) return false;
    for (; *at < n && is_digit(s[*at]); *at += 1)
        if (sum < 100000) sum = sum * 10 + (s[*at] - '0');
    *exponent += negative ? -sum : sum;
    return *at == n;
}

static bool scan(const char *s, size_t n, struct scanned *out) {
    size_t at = 0, digits = 0;
    bool point = false;
    out->count = 0;
    out->exponent = 0;
    out->small = 0;
    for (; at < n; at++) {
        if (s[at] == '.' && !point) {
            point = true;
        } else if (is_digit(s[at])) {
            digits++;
            add_digit(out, s[at]);
            out->exponent -= point;
        } else {
            break;
        }
    }
    if (digits == 0) return false;
    if (at < n && (s[at] | 32) == 'e') return scan_exponent(s, n, &at, &out->exponent);
    return at == n;
}

/* Whole digits and an exponent leave strtod no decimal point to look up in the locale. */
static double slow_value(struct scanned *n) {
    snprintf(n->digits + n->count, 16, "e%d", n->exponent);
    return strtod(n->digits, NULL);
}

/* Two numbers that a double holds exactly give the nearest double in one operation. */
static double value_of(struct scanned *n) {
    if (n->count == 0) return 0;
    if (n->count > EXACT_DIGITS || n->exponent > EXACT_POWER || n->exponent < -EXACT_POWER)
        return slow_value(n);
    double small = (double)n->small;
    return n->exponent < 0 ? small / POWERS[-n->exponent] : small * POWERS[n->exponent];
}

static bool is_text(const char *s, size_t n, const char *text) {
    return n == strlen(text) && strncasecmp(s, text, n) == 0;
}

static bool special_value(const char *s, size_t n, double *value) {
    if (is_text(s, n, "nan"))
        *value = NAN;
    else if (is_text(s, n, "inf") || is_text(s, n, "infinity"))
        *value = INFINITY;
    else
        return false;
    return true;
}

int chute_parse_double(const char *s, size_t n, double *value) {
    bool negative;
    size_t sign = skip_sign(s, n, &negative);
    double magnitude;
    if (n > TEXT_MAX) return CHUTE_NUMBER_SYNTAX;
    if (!special_value(s + sign, n - sign, &magnitude)) {
        struct scanned scanned;
        if (!scan(s + sign, n - sign, &scanned)) return CHUTE_NUMBER_SYNTAX;
        magnitude = value_of(&scanned);
        if (isinf(magnitude)) return CHUTE_NUMBER_RANGE;
    }
    *value = negative ? -magnitude : magnitude;
    return 0;
}

/* ---- double to text ----------------------------------------------------------------------- */

static size_t strip_zeroes(const char *digits, size_t count) {
    while (count > 1 && digits[count - 1] == '0') count--;
    return count;
}

/* Numbers of few digits: the first power of ten that makes one whole, if dividing by it again
 * gives the number. At most 15 digits: then no other text of that length reads back the same. */
static size_t few_digits(double value, char *digits, int *exponent) {
    if (value < 1e-5 || value >= 1e15) return 0;
    for (int power = 0; power <= EXACT_DIGITS; power++) {
        double whole = nearbyint(value * POWERS[power]);
        if (whole >= 1e15) return 0;
        if (whole / POWERS[power] != value) continue;
        char text[CHUTE_NUMBER_TEXT];
        size_t count = chute_format_u64((uint64_t)whole, text);
        *exponent = (int)count - power;
        count = strip_zeroes(text, count);
        memcpy(digits, text, count);
        return count;
    }
    return 0;
}

/* `precision` digits of the value. printf's point, whatever it is, is what is not a digit. */
static double round_digits(double value, int precision, struct scanned *out) {
    char text[64];
    int len = snprintf(text, sizeof text, "%.*e", precision - 1, value);
    const char *e = memchr(text, 'e', (size_t)len);
    out->count = 0;
    for (const char *at = text; at < e; at++)
        if (is_digit(*at)) out->digits[out->count++] = *at;
    out->count = strip_zeroes(out->digits, out->count);
    out->exponent = atoi(e + 1) + 1 - (int)out->count;
    return slow_value(out);
}

/* The next number of so many digits; false where the last is a 9, which shorter ones cover. */
static bool next_up(struct scanned *n, size_t precision) {
    for (; n->count < precision; n->exponent--) n->digits[n->count++] = '0';
    if (n->digits[n->count - 1] == '9') return false;
    n->digits[n->count - 1]++;
    return true;
}

/* The doubles around a power of two are twice as far above it as below, so that the shortest text
 * may be the second nearest of its length. */
static bool reads_back(double value, int precision, bool power_of_two, struct scanned *n) {
    if (round_digits(value, precision, n) == value) return true;
    return power_of_two && next_up(n, (size_t)precision) && slow_value(n) == value;
}

/* Numbers too small to have all their bits may need fewer than 15 digits. */
size_t chute_double_digits(double value, char *digits, int *exponent) {
    size_t count = few_digits(value, digits, exponent);
    if (count) return count;
    struct scanned n;
    int binary_exponent, precision = value < DBL_MIN ? 1 : 15;
    bool power_of_two = frexp(value, &binary_exponent) == 0.5;
    while (precision < 17 && !reads_back(value, precision, power_of_two, &n)) precision++;
    if (precision == 17) round_digits(value, precision, &n);
    *exponent = n.exponent + (int)n.count;
    memcpy(digits, n.digits, n.count);
    return n.count;
}

static size_t put_zeroes(char *out, int count) {
    for (int i = 0; i < count; i++) out[i] = '0';
    return count > 0 ? (size_t)count : 0;
}

/* Plain digits: 0.000ddd, dd.ddd or ddd000. */
static size_t put_plain(const char *digits, size_t count, int exponent, char *out) {
    size_t at = 0, whole = exponent > 0 ? (size_t)exponent : 0;
    if (whole > count) whole = count;
    memcpy(out, digits, whole);
    at += whole;
    if (exponent <= 0) out[at++] = '0';
    at += put_zeroes(out + at, exponent - (int)count);
    if (whole == count) return at;
    out[at++] = '.';
    at += put_zeroes(out + at, -exponent);
    memcpy(out + at, digits + whole, count - whole);
    return at + count - whole;
}

static size_t put_exponent(const char *digits, size_t count, int exponent, char *out) {
    size_t at = 0;
    out[at++] = digits[0];
    if (count > 1) {
        out[at++] = '.';
        memcpy(out + at, digits + 1, count - 1);
        at += count - 1;
    }
    out[at++] = 'e';
    return at + chute_format_i64(exponent - 1, out + at);
}

static size_t put_text(char *out, const char *text) {
    size_t len = strlen(text);
    memcpy(out, text, len);
    return len;
}

size_t chute_format_double(double value, char *out) {
    if (isnan(value)) return put_text(out, "nan");
    size_t at = 0;
    if (signbit(value)) out[at++] = '-';
    value = fabs(value);
    if (isinf(value)) return at + put_text(out + at, "inf");
    if (value < 9007199254740992.0 && value == (double)(uint64_t)value)
        return at + chute_format_u64((uint64_t)value, out + at);
    char digits[18];
    int exponent;
    size_t count = chute_double_digits(value, digits, &exponent);
    bool plain = exponent > -6 && exponent <= 21;
    return at + (plain ? put_plain(digits, count, exponent, out + at)
                       : put_exponent(digits, count, exponent, out + at));
}
