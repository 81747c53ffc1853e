/* Codec of Variant and Geometry:
 *
 *   index of the alternative, by sorted names │ its value        NULL: FF
 */
#include "codec.h"
#include "error.h"
#include "fit.h"
#include "typed.h"

#include <stdlib.h>
#include <string.h>

enum { NULL_INDEX = 0xFF };

struct variant {
    chute_typed *typed;
    size_t count;
    char **names; /* owned: canonical texts of the alternatives */
};

static void free_variant(void *state) {
    struct variant *variant = state;
    chute_typed_free(variant->typed);
    for (size_t i = 0; i < variant->count; i++) free(variant->names[i]);
    free(variant->names);
    free(variant);
}

/* ---- choosing ------------------------------------------------------------------------------ */

static int find_name(const chute_codec *codec, chute_row *row, const chute_cell *cell,
                     const chute_cell **value) {
    const struct variant *variant = codec->state;
    const struct chute_typed_type *typed = chute_typed_open(variant->typed, row, cell, value);
    if (!typed) return CHUTE_FIT_NONE;
    for (size_t i = 0; i < variant->count; i++)
        if (strcmp(variant->names[i], typed->canonical) == 0) return (int)i;
    chute_row_refuse(row, cell, " of %.200s, which is no type of the %s", typed->canonical,
                     codec->type->name);
    return CHUTE_FIT_NONE;
}

static int find_fit(const chute_codec *codec, chute_row *row, const chute_cell *cell) {
    int found = chute_fit(row, cell, codec->type->children, codec->count);
    if (found == CHUTE_FIT_NONE)
        chute_row_refuse(row, cell, " fits no type of the %s", codec->type->name);
    else if (found == CHUTE_FIT_MANY)
        chute_row_refuse(row, cell,
                         " fits more than one type of the %s: chute.typed(\"Type\", value) "
                         "says which",
                         codec->type->name);
    return found;
}

/* The index of the alternative, negative where the value was refused; `*value`: its value. */
static int choose(const chute_codec *codec, chute_row *row, const chute_cell *cell,
                  const chute_cell **value) {
    *value = cell;
    if (cell->kind == CHUTE_CELL_TYPED) return find_name(codec, row, cell, value);
    return find_fit(codec, row, cell);
}

/* ---- writing ------------------------------------------------------------------------------- */

static uint8_t *put_variant(const chute_codec *codec, chute_row *row, const chute_cell *cell,
                            uint8_t *out) {
    const chute_cell *value;
    *out = NULL_INDEX;
    if (cell->kind <= CHUTE_CELL_NULL) return out + 1;
    int index = choose(codec, row, cell, &value);
    if (index < 0) return NULL;
    *out = (uint8_t)index;
    return chute_codec_part(codec->children[index], row, value, out + 1);
}

/* ---- binding ------------------------------------------------------------------------------- */

static char *print(const chute_type *type) {
    size_t len = chute_type_print(type, NULL, 0);
    char *text = malloc(len + 1);
    if (text) chute_type_print(type, text, len + 1);
    return text;
}

static int bind_alternative(chute_codec *codec, struct variant *variant, size_t i,
                            const struct chute_codec_options *options, chute_error *err) {
    const chute_type *type = codec->type->children[i];
    codec->children[i] = chute_codec_new(type, options, err);
    if (!codec->children[i]) return CHUTE_E_SCHEMA;
    codec->count = i + 1;
    variant->names[i] = print(type);
    if (!variant->names[i]) return chute_fail(err, CHUTE_E_NOMEM, "out of memory");
    variant->count = i + 1;
    return CHUTE_OK;
}

int chute_bind_variant(chute_codec *codec, const struct chute_codec_options *options,
                       chute_error *err) {
    size_t count = codec->type->count;
    struct variant *variant = calloc(1, sizeof *variant);
    if (!variant) return chute_fail(err, CHUTE_E_NOMEM, "out of memory");
    codec->state = variant;
    codec->free_state = free_variant;
    variant->typed = chute_typed_new(NULL);
    variant->names = calloc(count ? count : 1, sizeof *variant->names);
    codec->children = calloc(count ? count : 1, sizeof *codec->children);
    if (!variant->typed || !variant->names || !codec->children)
        return chute_fail(err, CHUTE_E_NOMEM, "out of memory");
    codec->put = put_variant;
    codec->name = "variant";
    codec->takes_null = true;
    codec->shares_cell = true;
    int rc = CHUTE_OK;
    for (size_t i = 0; rc == CHUTE_OK && i < count; i++) {
        rc = bind_alternative(codec, variant, i, options, err);
        if (rc == CHUTE_OK && codec->children[i]->bound >= codec->bound)
            codec->bound = 1 + codec->children[i]->bound;
    }
    return rc;
}
