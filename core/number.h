/* number: decimal text to numbers and back, the same under every locale.
 *
 * Pure functions, no allocation. Texts are (pointer, length), need no NUL and may hold any bytes.
 * Those that parse return 0 and write the answer, or a CHUTE_NUMBER_… code and write nothing.
 */
#ifndef CHUTE_NUMBER_H
#define CHUTE_NUMBER_H

#include <stddef.h>
#include <stdint.h>

enum {
    CHUTE_NUMBER_SYNTAX = -1, /* no number */
    CHUTE_NUMBER_RANGE = -2   /* a number the type cannot hold */
};

/* Room that any chute_format_… below needs at most. */
enum { CHUTE_NUMBER_TEXT = 32 };

/* Whole numbers: an optional sign, then digits. No blanks, no exponent, no point. "-0" is 0. */
int chute_parse_u64(const char *s, size_t n, uint64_t *value);
int chute_parse_i64(const char *s, size_t n, int64_t *value);

/* An optional sign, then digits with at most one point (".5" and "5." pass), then maybe an
 * exponent; or "inf", "infinity", "nan" in any case. The nearest double, ties to even; a number
 * past the largest is CHUTE_NUMBER_RANGE, one too small becomes 0. At most 4096 bytes. */
int chute_parse_double(const char *s, size_t n, double *value);

/* These write text without a NUL, at most CHUTE_NUMBER_TEXT bytes, and return its length. */
size_t chute_format_u64(uint64_t value, char *out);
size_t chute_format_i64(int64_t value, char *out);

/* The shortest text that chute_parse_double reads back as the same number, in ClickHouse's
 * style: plain digits from 1e-6 up to 1e21, else with an exponent ("1e21", "2.5e-7"); "nan",
 * "inf", "-inf", "-0". */
size_t chute_format_double(double value, char *out);

/* The shortest decimal digits of a finite positive number: value = 0.d1d2d3… * 10^exponent, no
 * zero at either end. Writes and returns how many digits there are, at most 17. */
size_t chute_double_digits(double value, char *digits, int *exponent);

#endif
