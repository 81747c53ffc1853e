/* fit: which of several types a value is meant for, by what kind of value it is alone: never by
 * its digits or its text, so that one row fits as another does. */
#ifndef CHUTE_FIT_H
#define CHUTE_FIT_H

#include "row.h"
#include "type.h"

enum {
    CHUTE_FIT_NONE = -1,
    CHUTE_FIT_MANY = -2 /* more than one type fits equally well */
};

/* The index of the only type of `types` that fits best, or a CHUTE_FIT_… code. A type whose
 * natural form the value is (text for a String or a Date, numbers for Float64) goes before one
 * that takes it as well (text of digits for UInt64, seconds for a DateTime). */
int chute_fit(const chute_row *row, const chute_cell *cell, chute_type *const *types, size_t count);

#endif
