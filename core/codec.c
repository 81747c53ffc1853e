#include "codec.h"

#include "error.h"

#include <stdlib.h>

static const chute_bind BINDERS[CHUTE_TYPE_KINDS] = {
    [CHUTE_TYPE_NOTHING] = chute_bind_nothing,
    [CHUTE_TYPE_UINT8] = chute_bind_integer,
    [CHUTE_TYPE_UINT16] = chute_bind_integer,
    [CHUTE_TYPE_UINT32] = chute_bind_integer,
    [CHUTE_TYPE_UINT64] = chute_bind_integer,
    [CHUTE_TYPE_INT8] = chute_bind_integer,
    [CHUTE_TYPE_INT16] = chute_bind_integer,
    [CHUTE_TYPE_INT32] = chute_bind_integer,
    [CHUTE_TYPE_INT64] = chute_bind_integer,
    [CHUTE_TYPE_UINT128] = chute_bind_wide,
    [CHUTE_TYPE_UINT256] = chute_bind_wide,
    [CHUTE_TYPE_INT128] = chute_bind_wide,
    [CHUTE_TYPE_INT256] = chute_bind_wide,
    [CHUTE_TYPE_INTERVAL] = chute_bind_integer,
    [CHUTE_TYPE_BFLOAT16] = chute_bind_float,
    [CHUTE_TYPE_FLOAT32] = chute_bind_float,
    [CHUTE_TYPE_FLOAT64] = chute_bind_float,
    [CHUTE_TYPE_BOOL] = chute_bind_bool,
    [CHUTE_TYPE_STRING] = chute_bind_string,
    [CHUTE_TYPE_FIXED_STRING] = chute_bind_fixed_string,
    [CHUTE_TYPE_DATE] = chute_bind_date,
    [CHUTE_TYPE_DATE32] = chute_bind_date,
    [CHUTE_TYPE_DATETIME] = chute_bind_datetime,
    [CHUTE_TYPE_DATETIME64] = chute_bind_datetime,
    [CHUTE_TYPE_TIME] = chute_bind_time,
    [CHUTE_TYPE_TIME64] = chute_bind_time,
    [CHUTE_TYPE_DECIMAL] = chute_bind_decimal,
    [CHUTE_TYPE_UUID] = chute_bind_uuid,
    [CHUTE_TYPE_IPV4] = chute_bind_ip,
    [CHUTE_TYPE_IPV6] = chute_bind_ip,
    [CHUTE_TYPE_ENUM8] = chute_bind_enum,
    [CHUTE_TYPE_ENUM16] = chute_bind_enum,
    [CHUTE_TYPE_NULLABLE] = chute_bind_nullable,
    [CHUTE_TYPE_LOW_CARDINALITY] = chute_bind_alias,
    [CHUTE_TYPE_ARRAY] = chute_bind_array,
    [CHUTE_TYPE_MAP] = chute_bind_map,
    [CHUTE_TYPE_TUPLE] = chute_bind_tuple,
    [CHUTE_TYPE_NESTED] = chute_bind_nested,
    [CHUTE_TYPE_VARIANT] = chute_bind_variant,
    [CHUTE_TYPE_DYNAMIC] = chute_bind_dynamic,
    [CHUTE_TYPE_JSON] = chute_bind_json,
    [CHUTE_TYPE_OBJECT] = chute_bind_object,
    [CHUTE_TYPE_QBIT] = chute_bind_qbit,
    [CHUTE_TYPE_POINT] = chute_bind_tuple,
    [CHUTE_TYPE_RING] = chute_bind_array,
    [CHUTE_TYPE_LINE_STRING] = chute_bind_array,
    [CHUTE_TYPE_MULTI_LINE_STRING] = chute_bind_array,
    [CHUTE_TYPE_POLYGON] = chute_bind_array,
    [CHUTE_TYPE_MULTI_POLYGON] = chute_bind_array,
    [CHUTE_TYPE_GEOMETRY] = chute_bind_variant,
    [CHUTE_TYPE_SIMPLE_AGGREGATE_FUNCTION] = chute_bind_alias,
    [CHUTE_TYPE_AGGREGATE_FUNCTION] = chute_bind_state,
};

chute_codec *chute_codec_new(const chute_type *type, const struct chute_codec_options *options,
                             chute_error *err) {
    chute_bind bind = BINDERS[type->kind];
    chute_codec *codec = calloc(1, sizeof *codec);
    if (!codec) {
        chute_fail(err, CHUTE_E_NOMEM, "out of memory");
        return NULL;
    }
    codec->type = type;
    if (bind(codec, options, err) == CHUTE_OK) return codec;
    chute_codec_free(codec);
    return NULL;
}

int chute_codec_bind_children(chute_codec *codec, const struct chute_codec_options *options,
                              chute_error *err) {
    size_t count = codec->type->count;
    codec->children = calloc(count ? count : 1, sizeof *codec->children);
    if (!codec->children) return chute_fail(err, CHUTE_E_NOMEM, "out of memory");
    for (; codec->count < count; codec->count++) {
        chute_codec *child = chute_codec_new(codec->type->children[codec->count], options, err);
        if (!child) return CHUTE_E_SCHEMA;
        codec->children[codec->count] = child;
    }
    return CHUTE_OK;
}

void chute_codec_free(chute_codec *codec) {
    if (!codec) return;
    for (size_t i = 0; i < codec->count; i++) chute_codec_free(codec->children[i]);
    free(codec->children);
    free(codec->enum_names);
    free(codec->cache);
    if (codec->free_state) codec->free_state(codec->state);
    chute_zone_free(codec->zone);
    free(codec);
}

/* ---- bounds -------------------------------------------------------------------------------- */

uint32_t chute_codec_child_bound(const chute_codec *codec) {
    uint32_t most = 0;
    if (codec->type->kind == CHUTE_TYPE_JSON) return 0; /* it claims for its parts */
    for (size_t i = 0; i < codec->count; i++) {
        const chute_codec *child = codec->children[i];
        uint32_t own = codec->shares_cell ? 0 : child->bound;
        uint32_t below = chute_codec_child_bound(child);
        if (own > most) most = own;
        if (below > most) most = below;
    }
    return most;
}

/* The cells below a cell. Deeper than types go no put does either. */
static size_t count_below(const chute_row *row, const chute_cell *cell, uint32_t depth) {
    const chute_cell *child = chute_row_look(row, cell);
    if (!child || depth > CHUTE_TYPE_DEPTH_MAX) return 0;
    uint32_t parts = chute_cell_parts(cell);
    size_t count = parts;
    for (uint32_t i = 0; i < parts; i++) count += count_below(row, child + i, depth + 1);
    return count;
}

size_t chute_codec_need(const chute_codec *codec, const chute_row *row, const chute_cell *cell) {
    uint32_t child_bound = chute_codec_child_bound(codec);
    return codec->bound + (child_bound ? count_below(row, cell, 0) * child_bound : 0);
}
