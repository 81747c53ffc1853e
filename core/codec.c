#include "codec.h"

#include "error.h"

#include <stdlib.h>

static const chute_bind BINDERS[CHUTE_TYPE_KINDS] = {
    [CHUTE_TYPE_UINT8] = chute_bind_integer,
    [CHUTE_TYPE_UINT16] = chute_bind_integer,
    [CHUTE_TYPE_UINT32] = chute_bind_integer,
    [CHUTE_TYPE_UINT64] = chute_bind_integer,
    [CHUTE_TYPE_INT8] = chute_bind_integer,
    [CHUTE_TYPE_INT16] = chute_bind_integer,
    [CHUTE_TYPE_INT32] = chute_bind_integer,
    [CHUTE_TYPE_INT64] = chute_bind_integer,
    [CHUTE_TYPE_FLOAT32] = chute_bind_float,
    [CHUTE_TYPE_FLOAT64] = chute_bind_float,
    [CHUTE_TYPE_BOOL] = chute_bind_bool,
    [CHUTE_TYPE_STRING] = chute_bind_string,
    [CHUTE_TYPE_FIXED_STRING] = chute_bind_fixed_string,
    [CHUTE_TYPE_DATE] = chute_bind_date,
    [CHUTE_TYPE_DATE32] = chute_bind_date,
    [CHUTE_TYPE_DATETIME] = chute_bind_datetime,
    [CHUTE_TYPE_DATETIME64] = chute_bind_datetime,
    [CHUTE_TYPE_DECIMAL] = chute_bind_decimal,
    [CHUTE_TYPE_UUID] = chute_bind_uuid,
    [CHUTE_TYPE_IPV4] = chute_bind_ip,
    [CHUTE_TYPE_IPV6] = chute_bind_ip,
    [CHUTE_TYPE_ENUM8] = chute_bind_enum,
    [CHUTE_TYPE_ENUM16] = chute_bind_enum,
    [CHUTE_TYPE_NULLABLE] = chute_bind_nullable,
    [CHUTE_TYPE_LOW_CARDINALITY] = chute_bind_low_cardinality,
    [CHUTE_TYPE_ARRAY] = chute_bind_array,
    [CHUTE_TYPE_MAP] = chute_bind_map,
    [CHUTE_TYPE_TUPLE] = chute_bind_tuple,
};

chute_codec *chute_codec_new(const chute_type *type, const struct chute_codec_options *options,
                             chute_error *err) {
    chute_bind bind = BINDERS[type->kind];
    if (!bind) {
        chute_fail(err, CHUTE_E_SCHEMA, "%s has no encoder yet", type->name);
        return NULL;
    }
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

void chute_codec_free(chute_codec *codec) {
    if (!codec) return;
    for (size_t i = 0; i < codec->count; i++) chute_codec_free(codec->children[i]);
    free(codec->children);
    free(codec->enum_names);
    free(codec->cache);
    chute_zone_free(codec->zone);
    free(codec);
}

static bool has_arena(const chute_codec *codec) {
    switch (codec->type->kind) {
    case CHUTE_TYPE_ARRAY:
    case CHUTE_TYPE_MAP:
    case CHUTE_TYPE_TUPLE: return true;
    default: return false;
    }
}

uint32_t chute_codec_child_bound(const chute_codec *codec) {
    uint32_t most = 0;
    for (size_t i = 0; i < codec->count; i++) {
        const chute_codec *child = codec->children[i];
        uint32_t own = has_arena(codec) ? child->bound : 0;
        uint32_t below = chute_codec_child_bound(child);
        if (own > most) most = own;
        if (below > most) most = below;
    }
    return most;
}
