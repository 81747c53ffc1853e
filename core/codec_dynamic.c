/* Codec of Dynamic. */
#include "dynamic.h"
#include "error.h"
#include "shape.h"
#include "wire.h"

#include <math.h>
#include <stdlib.h>

enum {
    TAG_NOTHING = 0,
    TAG_ARRAY = 0x1E,
    TAG_NULLABLE = 0x23,
    TAG_DYNAMIC = 0x2B,
    TAG_JSON = 0x30
};
enum { DYNAMIC_TYPES = 32 };

static const uint8_t LEAF_TAGS[] = {
    [CHUTE_LEAF_NONE] = 0x15,   [CHUTE_LEAF_BOOL] = 0x2D,       [CHUTE_LEAF_INTEGER] = 0x0A,
    [CHUTE_LEAF_INT64] = 0x0A,  [CHUTE_LEAF_UINT64] = 0x04,     [CHUTE_LEAF_FLOAT64] = 0x0E,
    [CHUTE_LEAF_STRING] = 0x15, [CHUTE_LEAF_OBJECT] = TAG_JSON,
};

/* What a list's elements are written with. */
struct list {
    const struct chute_dynamic *dynamic;
    struct chute_json_limits limits;
    enum chute_leaf leaf;
    bool nullable;
};

/* ---- leaves -------------------------------------------------------------------------------- */

static uint8_t *put_number(const chute_cell *cell, enum chute_leaf leaf, uint8_t *out) {
    if (cell->kind != CHUTE_CELL_NUMBER && leaf != CHUTE_LEAF_FLOAT64)
        return chute_put_int(out, cell->u64, 8);
    if (leaf != CHUTE_LEAF_FLOAT64) return chute_put_int(out, (uint64_t)(int64_t)cell->num, 8);
    double value = cell->kind == CHUTE_CELL_NUMBER ? cell->num : (double)cell->i64;
    if (isnan(value)) value = NAN; /* of one sign, as ClickHouse writes it */
    memcpy(out, &value, sizeof value);
    return out + sizeof value;
}

static uint8_t *put_leaf(chute_row *row, const chute_cell *cell, enum chute_leaf leaf,
                         uint8_t *out) {
    switch (leaf) {
    case CHUTE_LEAF_BOOL: *out = cell->u64 != 0; return out + 1;
    case CHUTE_LEAF_STRING: return chute_row_put_text(row, cell, out);
    default: return put_number(cell, leaf, out);
    }
}

/* ---- lists --------------------------------------------------------------------------------- */

static uint8_t *put_element(const struct list *list, chute_row *row, const chute_cell *cell,
                            uint32_t depth, uint8_t *out);

static uint8_t *put_elements(const struct list *list, chute_row *row, const chute_cell *cell,
                             uint32_t depth, uint8_t *out) {
    const chute_cell *child = chute_row_children(row, cell, cell->len);
    if (!child || !chute_row_claim(row, (size_t)cell->len * CHUTE_DYNAMIC_BOUND)) return NULL;
    out = chute_put_leb(out, cell->len);
    for (uint32_t i = 0; i < cell->len; i++) {
        if (child[i].kind == CHUTE_CELL_ABSENT)
            out = chute_row_refuse(row, child + i, " inside a list: NULL is chute.null");
        else
            out = put_element(list, row, child + i, depth, out);
        if (!out)
            return chute_row_step(row,
                                  (struct chute_step){.kind = CHUTE_STEP_INDEX, .index = i + 1});
    }
    return out;
}

static uint8_t *put_element(const struct list *list, chute_row *row, const chute_cell *cell,
                            uint32_t depth, uint8_t *out) {
    if (depth > 1) return put_elements(list, row, cell, depth - 1, out);
    if (list->leaf == CHUTE_LEAF_MIXED)
        return chute_dynamic_put(list->dynamic, list->limits, row, cell, out);
    if (list->nullable) *out++ = cell->kind == CHUTE_CELL_NULL;
    if (cell->kind == CHUTE_CELL_NULL) return out;
    if (list->leaf == CHUTE_LEAF_OBJECT)
        return chute_json_put_object(list->dynamic->json, list->limits, row, cell, out);
    return put_leaf(row, cell, list->leaf, out);
}

/* JSON with no typed and no skipped path. */
static uint8_t *put_json_type(struct chute_json_limits limits, uint8_t *out) {
    *out++ = 0; /* version */
    out = chute_put_leb(out, limits.paths);
    *out++ = (uint8_t)limits.types;
    *out++ = 0;
    *out++ = 0;
    *out++ = 0;
    return out;
}

static uint8_t *put_list_type(const struct list *list, uint32_t depth, uint8_t *out) {
    for (uint32_t i = 0; i < depth; i++) *out++ = TAG_ARRAY;
    if (list->leaf == CHUTE_LEAF_MIXED) {
        *out++ = TAG_DYNAMIC;
        *out++ = DYNAMIC_TYPES;
        return out;
    }
    if (list->nullable) *out++ = TAG_NULLABLE;
    *out++ = LEAF_TAGS[list->leaf];
    return list->leaf == CHUTE_LEAF_OBJECT ? put_json_type(list->limits, out) : out;
}

/* As a server reads lists in JSON text: leaves may be NULL, but objects only where some are; what
 * is of no one type is Dynamic; and each level of lists halves and quarters what JSON may hold. */
static void suit_json(struct list *list, struct chute_shape *shape) {
    list->nullable = shape->null || shape->leaf != CHUTE_LEAF_OBJECT;
    if (shape->leaf == CHUTE_LEAF_MIXED) {
        shape->depth = 1;
    } else {
        list->limits.paths /= 4;
        list->limits.types /= 2;
    }
}

static uint8_t *put_list(const struct chute_dynamic *dynamic, struct chute_json_limits limits,
                         chute_row *row, const chute_cell *cell, uint8_t *out) {
    struct chute_shape shape = chute_shape_of(row, cell);
    struct list list = {.dynamic = dynamic, .limits = limits, .leaf = shape.leaf};
    if (dynamic->json)
        suit_json(&list, &shape);
    else if (shape.leaf >= CHUTE_LEAF_OBJECT)
        return chute_row_refuse(row, cell,
                                " of no one plain type: chute.typed(\"Array(…)\", list) says "
                                "which it is");
    else
        list.nullable = shape.null || shape.leaf == CHUTE_LEAF_NONE;
    if (!chute_row_claim(row, shape.depth)) return NULL;
    return put_elements(&list, row, cell, shape.depth, put_list_type(&list, shape.depth, out));
}

/* ---- values -------------------------------------------------------------------------------- */

static bool is_refused_inside(const chute_type *type) {
    return type->kind == CHUTE_TYPE_VARIANT || type->kind == CHUTE_TYPE_GEOMETRY ||
           type->kind == CHUTE_TYPE_DYNAMIC || type->kind == CHUTE_TYPE_NOTHING;
}

static uint8_t *put_typed(const struct chute_dynamic *dynamic, chute_row *row,
                          const chute_cell *cell, uint8_t *out) {
    const chute_cell *value;
    const struct chute_typed_type *typed = chute_typed_open(dynamic->typed, row, cell, &value);
    if (!typed) return NULL;
    if (is_refused_inside(typed->codec->type))
        return chute_row_refuse(row, cell,
                                " of %s, which Dynamic cannot hold: name the type that "
                                "the value has in it",
                                typed->codec->type->name);
    if (value->kind == CHUTE_CELL_NULL) {
        *out = TAG_NOTHING;
        return out + 1;
    }
    if (!chute_row_claim(row, typed->tag_len + chute_codec_need(typed->codec, row, value)))
        return NULL;
    out = chute_put_bytes(out, typed->tag, typed->tag_len);
    return chute_codec_part(typed->codec, row, value, out);
}

static uint8_t *put_plain(chute_row *row, const chute_cell *cell, enum chute_leaf leaf,
                          uint8_t *out) {
    *out++ = LEAF_TAGS[leaf];
    return put_leaf(row, cell, leaf, out);
}

uint8_t *chute_dynamic_put(const struct chute_dynamic *dynamic, struct chute_json_limits limits,
                           chute_row *row, const chute_cell *cell, uint8_t *out) {
    switch (cell->kind) {
    case CHUTE_CELL_NULL: *out = TAG_NOTHING; return out + 1;
    case CHUTE_CELL_BOOL: return put_plain(row, cell, CHUTE_LEAF_BOOL, out);
    case CHUTE_CELL_INT64: return put_plain(row, cell, CHUTE_LEAF_INT64, out);
    case CHUTE_CELL_UINT64: return put_plain(row, cell, CHUTE_LEAF_UINT64, out);
    case CHUTE_CELL_STRING: return put_plain(row, cell, CHUTE_LEAF_STRING, out);
    case CHUTE_CELL_NUMBER:
        return put_plain(row, cell,
                         chute_is_whole(cell->num) ? CHUTE_LEAF_INTEGER : CHUTE_LEAF_FLOAT64, out);
    case CHUTE_CELL_LIST: return put_list(dynamic, limits, row, cell, out);
    case CHUTE_CELL_TYPED: return put_typed(dynamic, row, cell, out);
    case CHUTE_CELL_PAIRS:
        if (!dynamic->json) break;
        *out++ = TAG_JSON;
        return chute_json_put_object(dynamic->json, limits, row, cell, put_json_type(limits, out));
    default: return chute_row_refuse(row, cell, " has no type in ClickHouse");
    }
    return chute_row_refuse(row, cell,
                            " has no type of its own: chute.typed(\"Map(…)\" or \"JSON\", value) "
                            "says which it is");
}

/* ---- binding ------------------------------------------------------------------------------- */

static const struct chute_json_limits NO_LIMITS = {0, 0};

static uint8_t *put_dynamic(const chute_codec *codec, chute_row *row, const chute_cell *cell,
                            uint8_t *out) {
    return chute_dynamic_put(codec->state, NO_LIMITS, row, cell, out);
}

static void free_dynamic(void *state) {
    struct chute_dynamic *dynamic = state;
    chute_typed_free(dynamic->typed);
    free(dynamic);
}

int chute_bind_dynamic(chute_codec *codec, const struct chute_codec_options *options,
                       chute_error *err) {
    struct chute_dynamic *dynamic = calloc(1, sizeof *dynamic);
    if (!dynamic) return chute_fail(err, CHUTE_E_NOMEM, "out of memory");
    codec->state = dynamic;
    codec->free_state = free_dynamic;
    codec->put = put_dynamic;
    codec->name = "dynamic";
    codec->takes_null = true;
    codec->bound = CHUTE_DYNAMIC_BOUND;
    dynamic->typed = chute_typed_new(options);
    return dynamic->typed ? CHUTE_OK : chute_fail(err, CHUTE_E_NOMEM, "out of memory");
}
