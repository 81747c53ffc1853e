#include "fit.h"

enum { NOT = 0, TAKES = 1, NATURAL = 2 };

static int fit(const chute_row *row, const chute_cell *cell, const chute_type *type);

static int least(int a, int b) {
    return a < b ? a : b;
}

static bool is_integer(uint32_t kind) {
    return kind >= CHUTE_TYPE_UINT8 && kind <= CHUTE_TYPE_INT256;
}

static bool is_float(uint32_t kind) {
    return kind >= CHUTE_TYPE_BFLOAT16 && kind <= CHUTE_TYPE_FLOAT64;
}

static bool is_moment(uint32_t kind) {
    return kind >= CHUTE_TYPE_DATE && kind <= CHUTE_TYPE_TIME64;
}

static bool is_enum(uint32_t kind) {
    return kind == CHUTE_TYPE_ENUM8 || kind == CHUTE_TYPE_ENUM16;
}

static int fit_number(uint32_t kind, bool whole) {
    if (is_integer(kind) || kind == CHUTE_TYPE_INTERVAL) return NATURAL;
    if (is_float(kind) || kind == CHUTE_TYPE_DECIMAL) return whole ? TAKES : NATURAL;
    return is_moment(kind) || is_enum(kind) ? TAKES : NOT;
}

static int fit_text(uint32_t kind) {
    if (is_moment(kind) || is_enum(kind)) return NATURAL;
    if (is_integer(kind) || is_float(kind)) return TAKES;
    switch (kind) {
    case CHUTE_TYPE_STRING:
    case CHUTE_TYPE_FIXED_STRING:
    case CHUTE_TYPE_UUID:
    case CHUTE_TYPE_IPV4:
    case CHUTE_TYPE_IPV6:
    case CHUTE_TYPE_AGGREGATE_FUNCTION: return NATURAL;
    case CHUTE_TYPE_INTERVAL:
    case CHUTE_TYPE_DECIMAL:
    case CHUTE_TYPE_BOOL:
    case CHUTE_TYPE_JSON: return TAKES;
    default: return NOT;
    }
}

/* A list fits as well as the worst of what is in it. */
static int fit_each(const chute_row *row, const chute_cell *cell, const chute_type *const *types,
                    size_t period) {
    const chute_cell *child = chute_row_look(row, cell);
    int best = NATURAL;
    if (!child) return best;
    for (uint32_t i = 0, n = chute_cell_parts(cell); i < n && best > NOT; i++)
        best = least(best, fit(row, child + i, types[i % period]));
    return best;
}

static int fit_list(const chute_row *row, const chute_cell *cell, const chute_type *type) {
    const chute_type *const *parts = (const chute_type *const *)type->children;
    switch (type->kind) {
    case CHUTE_TYPE_QBIT: return cell->len == type->precision ? fit_each(row, cell, parts, 1) : NOT;
    case CHUTE_TYPE_ARRAY:
    case CHUTE_TYPE_RING:
    case CHUTE_TYPE_LINE_STRING:
    case CHUTE_TYPE_MULTI_LINE_STRING:
    case CHUTE_TYPE_POLYGON:
    case CHUTE_TYPE_MULTI_POLYGON: return fit_each(row, cell, parts, 1);
    case CHUTE_TYPE_TUPLE:
    case CHUTE_TYPE_POINT:
        return cell->len == type->count ? fit_each(row, cell, parts, type->count) : NOT;
    default: return NOT;
    }
}

static int fit_pairs(const chute_row *row, const chute_cell *cell, const chute_type *type) {
    switch (type->kind) {
    case CHUTE_TYPE_JSON: return NATURAL;
    case CHUTE_TYPE_MAP: return fit_each(row, cell, (const chute_type *const *)type->children, 2);
    case CHUTE_TYPE_ARRAY: return cell->len == 0 ? TAKES : NOT;
    default: return NOT;
    }
}

static const chute_type *stored(const chute_type *type) {
    while (type->kind == CHUTE_TYPE_NULLABLE || type->kind == CHUTE_TYPE_LOW_CARDINALITY ||
           type->kind == CHUTE_TYPE_SIMPLE_AGGREGATE_FUNCTION)
        type = type->children[0];
    return type;
}

static bool holds_null(const chute_type *type) {
    for (; type->count == 1; type = type->children[0])
        if (type->kind == CHUTE_TYPE_NULLABLE) return true;
    return type->kind == CHUTE_TYPE_VARIANT || type->kind == CHUTE_TYPE_GEOMETRY;
}

static int fit(const chute_row *row, const chute_cell *cell, const chute_type *type) {
    const chute_type *inner = stored(type);
    if (inner->kind == CHUTE_TYPE_DYNAMIC) return cell->kind == CHUTE_CELL_ABSENT ? NOT : NATURAL;
    if (cell->kind == CHUTE_CELL_NULL) return holds_null(type) ? NATURAL : NOT;
    if (inner->kind == CHUTE_TYPE_VARIANT || inner->kind == CHUTE_TYPE_GEOMETRY)
        return chute_fit(row, cell, inner->children, inner->count) >= 0 ? NATURAL : NOT;
    switch (cell->kind) {
    case CHUTE_CELL_NUMBER: return fit_number(inner->kind, false);
    case CHUTE_CELL_INT64:
    case CHUTE_CELL_UINT64: return fit_number(inner->kind, true);
    case CHUTE_CELL_BOOL: return inner->kind == CHUTE_TYPE_BOOL ? NATURAL : NOT;
    case CHUTE_CELL_STRING: return fit_text(inner->kind);
    case CHUTE_CELL_LIST: return fit_list(row, cell, inner);
    case CHUTE_CELL_PAIRS: return fit_pairs(row, cell, inner);
    default: return NOT;
    }
}

int chute_fit(const chute_row *row, const chute_cell *cell, chute_type *const *types,
              size_t count) {
    int best = NOT, found = CHUTE_FIT_NONE;
    for (size_t i = 0; i < count; i++) {
        int how = fit(row, cell, types[i]);
        if (how == NOT || how < best) continue;
        found = how > best ? (int)i : CHUTE_FIT_MANY;
        best = how;
    }
    return found;
}
