/* error: how a failure is told. */
#ifndef CHUTE_ERROR_H
#define CHUTE_ERROR_H

#include "chute.h"

/* Fills `err` (may be NULL) with a kind and a one-line message, all else cleared, and returns
 * `kind`, so that a function can end in `return chute_fail(err, …)`. */
int chute_fail(chute_error *err, int kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Writes `len` bytes of a value for use in a message: control bytes, quotes and backslashes
 * escaped, bytes that are no UTF-8 as \xNN, cut at 64 bytes with "…". NUL-ended; `capacity`
 * of CHUTE_QUOTE_MAX always suffices. Returns `out`. */
enum { CHUTE_QUOTE_MAX = 280 };
const char *chute_quote(const char *bytes, size_t len, char *out, size_t capacity);

#endif
