/* Codecs of types made of types: Nullable, Array, Map, Tuple, Nested, and those that are written as
 * what they hold. The geometric types are arrays and tuples by other names. */
#include "codec.h"
#include "error.h"
#include "wire.h"

#include <stdlib.h>

/* ---- Nullable ------------------------------------------------------------------------------ */

static uint8_t *put_nullable(const chute_codec *codec, chute_row *row, const chute_cell *cell,
                             uint8_t *out) {
    bool null = cell->kind <= CHUTE_CELL_NULL;
    *out++ = null;
    if (null) return out;
    const chute_codec *child = codec->children[0];
    return child->put(child, row, cell, out);
}

int chute_bind_nullable(chute_codec *codec, const struct chute_codec_options *options,
                        chute_error *err) {
    codec->put = put_nullable;
    codec->name = "nullable";
    codec->takes_null = true;
    int rc = chute_codec_bind_children(codec, options, err);
    if (rc != CHUTE_OK) return rc;
    codec->shares_cell = true;
    codec->bound = 1 + codec->children[0]->bound;
    return CHUTE_OK;
}

/* In rows LowCardinality and SimpleAggregateFunction are what they hold: the codec becomes its
 * child. */
int chute_bind_alias(chute_codec *codec, const struct chute_codec_options *options,
                     chute_error *err) {
    chute_codec *child = chute_codec_new(codec->type->children[0], options, err);
    if (!child) return CHUTE_E_SCHEMA;
    *codec = *child;
    free(child);
    return CHUTE_OK;
}

/* ---- Array --------------------------------------------------------------------------------- */

static uint8_t *put_array(const chute_codec *codec, chute_row *row, const chute_cell *cell,
                          uint8_t *out) {
    bool empty = cell->kind == CHUTE_CELL_PAIRS && cell->len == 0; /* {} where nothing told which */
    if (cell->kind != CHUTE_CELL_LIST && !empty)
        return chute_row_refuse(row, cell, " is not a list");
    const chute_cell *child = chute_row_children(row, cell, cell->len);
    if (!child) return NULL;
    const chute_codec *element = codec->children[0];
    out = chute_put_leb(out, cell->len);
    for (uint32_t i = 0; i < cell->len; i++) {
        if (child[i].kind == CHUTE_CELL_ABSENT)
            out = chute_row_refuse(row, child + i, " inside a list: NULL is chute.null");
        else
            out = chute_codec_part(element, row, child + i, out);
        if (!out)
            return chute_row_step(row,
                                  (struct chute_step){.kind = CHUTE_STEP_INDEX, .index = i + 1});
    }
    return out;
}

int chute_bind_array(chute_codec *codec, const struct chute_codec_options *options,
                     chute_error *err) {
    codec->put = put_array;
    codec->name = "array";
    codec->bound = CHUTE_LEB_MAX;
    return chute_codec_bind_children(codec, options, err);
}

/* ---- Map ----------------------------------------------------------------------------------- */

static uint8_t *put_map(const chute_codec *codec, chute_row *row, const chute_cell *cell,
                        uint8_t *out) {
    if (cell->kind != CHUTE_CELL_PAIRS || cell->len > UINT32_MAX / 2)
        return chute_row_refuse(row, cell, " is not a table of keys and values");
    const chute_cell *child = chute_row_children(row, cell, cell->len * 2);
    if (!child) return NULL;
    const chute_codec *key = codec->children[0], *value = codec->children[1];
    out = chute_put_leb(out, cell->len);
    for (uint32_t i = 0; i < cell->len; i++, child += 2) {
        out = chute_codec_part(key, row, child, out);
        if (out) out = chute_codec_part(value, row, child + 1, out);
        if (!out)
            return chute_row_step(row, (struct chute_step){.kind = CHUTE_STEP_KEY, .key = child});
    }
    return out;
}

int chute_bind_map(chute_codec *codec, const struct chute_codec_options *options,
                   chute_error *err) {
    codec->put = put_map;
    codec->name = "map";
    codec->bound = CHUTE_LEB_MAX;
    return chute_codec_bind_children(codec, options, err);
}

/* ---- Tuple --------------------------------------------------------------------------------- */

static uint8_t *tuple_step(const chute_codec *codec, chute_row *row, uint32_t at) {
    const char *name = codec->type->names ? codec->type->names[at] : NULL;
    if (name)
        return chute_row_step(row, (struct chute_step){.kind = CHUTE_STEP_NAME, .name = name});
    return chute_row_step(row, (struct chute_step){.kind = CHUTE_STEP_INDEX, .index = at + 1});
}

static uint8_t *put_tuple(const chute_codec *codec, chute_row *row, const chute_cell *cell,
                          uint8_t *out) {
    if (cell->kind != CHUTE_CELL_LIST) return chute_row_refuse(row, cell, " is not a tuple");
    if (cell->len != codec->count)
        return chute_row_refuse(row, cell, " where %zu elements are needed", codec->count);
    const chute_cell *child = chute_row_children(row, cell, cell->len);
    if (!child) return NULL;
    for (uint32_t i = 0; i < cell->len; i++) {
        out = chute_codec_part(codec->children[i], row, child + i, out);
        if (!out) return tuple_step(codec, row, i);
    }
    return out;
}

int chute_bind_tuple(chute_codec *codec, const struct chute_codec_options *options,
                     chute_error *err) {
    codec->put = put_tuple;
    codec->name = "tuple";
    return chute_codec_bind_children(codec, options, err);
}

/* ---- Nested, QBit -------------------------------------------------------------------------- */

/* Where a server does not flatten it, an array of tuples: the codec's only child is a tuple of
 * the same type's columns. */
int chute_bind_nested(chute_codec *codec, const struct chute_codec_options *options,
                      chute_error *err) {
    chute_codec *tuple = calloc(1, sizeof *tuple);
    codec->children = calloc(1, sizeof *codec->children);
    if (!tuple || !codec->children) {
        free(tuple);
        return chute_fail(err, CHUTE_E_NOMEM, "out of memory");
    }
    codec->children[0] = tuple;
    codec->count = 1;
    codec->put = put_array;
    codec->name = "nested";
    codec->bound = CHUTE_LEB_MAX;
    tuple->type = codec->type;
    return chute_bind_tuple(tuple, options, err);
}

/* In rows an array of as many elements as the type says. */
static uint8_t *put_qbit(const chute_codec *codec, chute_row *row, const chute_cell *cell,
                         uint8_t *out) {
    if (cell->kind == CHUTE_CELL_LIST && cell->len != codec->type->precision)
        return chute_row_refuse(row, cell, " where %u elements are needed", codec->type->precision);
    return put_array(codec, row, cell, out);
}

int chute_bind_qbit(chute_codec *codec, const struct chute_codec_options *options,
                    chute_error *err) {
    codec->put = put_qbit;
    codec->name = "qbit";
    codec->bound = CHUTE_LEB_MAX;
    return chute_codec_bind_children(codec, options, err);
}

/* ---- Nothing, AggregateFunction, Object ---------------------------------------------------- */

/* Only NULL passes, as Nullable(Nothing). */
static uint8_t *put_nothing(const chute_codec *codec, chute_row *row, const chute_cell *cell,
                            uint8_t *out) {
    (void)codec, (void)out;
    return chute_row_refuse(row, cell, " where there can be no value: the type is Nothing");
}

int chute_bind_nothing(chute_codec *codec, const struct chute_codec_options *options,
                       chute_error *err) {
    (void)options, (void)err;
    codec->put = put_nothing;
    codec->name = "nothing";
    return CHUTE_OK;
}

/* A state is known to its function alone, and has no length before it: the bytes are taken as the
 * server gave them. */
static uint8_t *put_state(const chute_codec *codec, chute_row *row, const chute_cell *cell,
                          uint8_t *out) {
    (void)codec;
    if (cell->kind != CHUTE_CELL_STRING || cell->len == 0)
        return chute_row_refuse(row, cell, " is not the bytes of a state");
    if (!chute_row_claim(row, cell->len)) return NULL;
    return chute_put_bytes(out, cell->ptr, cell->len);
}

int chute_bind_state(chute_codec *codec, const struct chute_codec_options *options,
                     chute_error *err) {
    (void)options, (void)err;
    codec->put = put_state;
    codec->name = "state";
    return CHUTE_OK;
}

int chute_bind_object(chute_codec *codec, const struct chute_codec_options *options,
                      chute_error *err) {
    (void)codec, (void)options;
    return chute_fail(err, CHUTE_E_SCHEMA,
                      "Object('json') has no encoder: ClickHouse replaced it by JSON in 24.8 and "
                      "removed it since");
}
