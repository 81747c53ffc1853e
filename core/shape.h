/* shape: the type that a list has whose elements say no more than what they are. */
#ifndef CHUTE_SHAPE_H
#define CHUTE_SHAPE_H

#include "row.h"

#include <stdbool.h>

enum chute_leaf {
    CHUTE_LEAF_NONE, /* nothing but NULL, or no element at all */
    CHUTE_LEAF_BOOL,
    CHUTE_LEAF_INTEGER, /* whole numbers that a double holds too */
    CHUTE_LEAF_INT64,   /* past 2^53 */
    CHUTE_LEAF_UINT64,
    CHUTE_LEAF_FLOAT64,
    CHUTE_LEAF_STRING,
    CHUTE_LEAF_OBJECT, /* tables of keys and values */
    CHUTE_LEAF_MIXED   /* of no one type, or of one that has to be named */
};

/* Lists of lists … of leaves. */
struct chute_shape {
    uint32_t depth; /* 0: no list */
    enum chute_leaf leaf;
    bool null; /* NULL among the leaves */
};

struct chute_shape chute_shape_of(const chute_row *row, const chute_cell *cell);

/* Whether a plain number is an integer that doubles hold exactly. */
bool chute_is_whole(double number);

#endif
