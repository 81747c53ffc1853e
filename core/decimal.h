/* decimal: exact decimal text to scaled integers of up to 256 bits.
 *
 * Pure functions, no allocation; texts are (pointer, length) and may hold any bytes. All return 0
 * and write the answer, or a CHUTE_DECIMAL_… code and write nothing.
 */
#ifndef CHUTE_DECIMAL_H
#define CHUTE_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Two's complement, low limb first: on a little-endian machine its first 4, 8, 16 or 32 bytes are
 * what RowBinary wants of a value that fits there. */
typedef struct {
    uint64_t limb[4];
} chute_int256;

enum {
    CHUTE_DECIMAL_SYNTAX = -1, /* no decimal number */
    CHUTE_DECIMAL_RANGE = -2,  /* more digits than the precision, or the integer's bits, hold */
    CHUTE_DECIMAL_INEXACT = -3 /* a digit other than 0 past the scale */
};

enum { CHUTE_DECIMAL_DIGITS_MAX = 76 };

/* An optional sign, then digits with at most one point (".5" and "5." pass), then maybe an
 * exponent: "1e3", "1.5E-2". Writes value × 10^scale. `precision` is from 1 to 76, `scale` at
 * most `precision`. */
int chute_parse_decimal(const char *s, size_t n, uint32_t precision, uint32_t scale,
                        chute_int256 *value);

/* The same from a double: the shortest text that reads back as it, rounded at the scale, halves
 * away from zero: 75.57 at scale 2 is 7557. NaN and infinities are CHUTE_DECIMAL_SYNTAX. */
int chute_decimal_from_double(double number, uint32_t precision, uint32_t scale,
                              chute_int256 *value);

/* A whole number as an integer of `bits` (8 to 256, a multiple of 8), signed or not: an optional
 * sign, then digits; no point, no exponent. */
int chute_parse_integer(const char *s, size_t n, uint32_t bits, bool is_signed,
                        chute_int256 *value);

enum { CHUTE_DECIMAL_TEXT = 80 };

/* Writes number / 10^scale without a NUL, at most CHUTE_DECIMAL_TEXT bytes, zeroes at the
 * fraction's end left out, and returns its length. `scale` is at most 76. */
size_t chute_format_decimal(const chute_int256 *number, bool is_signed, uint32_t scale, char *out);

#endif
