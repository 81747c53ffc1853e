#include "shape.h"

#include <math.h>

enum { DEPTH_MAX = 100 };

bool chute_is_whole(double number) {
    return fabs(number) <= 9007199254740992.0 && number == trunc(number);
}

static enum chute_leaf leaf_of(const chute_cell *cell) {
    const int64_t exact = (int64_t)1 << 53;
    switch (cell->kind) {
    case CHUTE_CELL_NULL: return CHUTE_LEAF_NONE;
    case CHUTE_CELL_BOOL: return CHUTE_LEAF_BOOL;
    case CHUTE_CELL_NUMBER:
        return chute_is_whole(cell->num) ? CHUTE_LEAF_INTEGER : CHUTE_LEAF_FLOAT64;
    case CHUTE_CELL_INT64:
        return cell->i64 >= -exact && cell->i64 <= exact ? CHUTE_LEAF_INTEGER : CHUTE_LEAF_INT64;
    case CHUTE_CELL_UINT64: return CHUTE_LEAF_UINT64;
    case CHUTE_CELL_STRING: return CHUTE_LEAF_STRING;
    case CHUTE_CELL_PAIRS: return CHUTE_LEAF_OBJECT;
    default: return CHUTE_LEAF_MIXED;
    }
}

/* Whole numbers go with larger ones and with fractions; no digit is lost by it. */
static enum chute_leaf unite_leaves(enum chute_leaf a, enum chute_leaf b) {
    if (a == b || b == CHUTE_LEAF_NONE) return a;
    if (a == CHUTE_LEAF_NONE) return b;
    if (a == CHUTE_LEAF_INTEGER && (b == CHUTE_LEAF_INT64 || b == CHUTE_LEAF_FLOAT64)) return b;
    if (b == CHUTE_LEAF_INTEGER && (a == CHUTE_LEAF_INT64 || a == CHUTE_LEAF_FLOAT64)) return a;
    return CHUTE_LEAF_MIXED;
}

static struct chute_shape unite(struct chute_shape a, struct chute_shape b) {
    struct chute_shape mixed = {.leaf = CHUTE_LEAF_MIXED};
    if (a.depth > b.depth) return unite(b, a);
    if (a.depth < b.depth) /* an empty list may hold lists as well */
        return a.depth > 0 && a.leaf == CHUTE_LEAF_NONE && !a.null ? b : mixed;
    a.leaf = unite_leaves(a.leaf, b.leaf);
    a.null |= b.null;
    return a.leaf == CHUTE_LEAF_MIXED ? mixed : a;
}

static struct chute_shape shape_at(const chute_row *row, const chute_cell *cell, uint32_t depth) {
    struct chute_shape shape = {.leaf = leaf_of(cell), .null = cell->kind == CHUTE_CELL_NULL};
    if (cell->kind != CHUTE_CELL_LIST || depth > DEPTH_MAX) return shape;
    const chute_cell *child = chute_row_look(row, cell);
    shape.leaf = CHUTE_LEAF_NONE;
    if (child) shape = shape_at(row, child, depth + 1);
    for (uint32_t i = 1; child && i < cell->len && shape.leaf != CHUTE_LEAF_MIXED; i++)
        shape = unite(shape, shape_at(row, child + i, depth + 1));
    if (shape.leaf == CHUTE_LEAF_MIXED) return (struct chute_shape){.leaf = CHUTE_LEAF_MIXED};
    shape.depth++;
    return shape;
}

struct chute_shape chute_shape_of(const chute_row *row, const chute_cell *cell) {
    return shape_at(row, cell, 0);
}
