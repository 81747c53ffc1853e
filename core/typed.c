#include "typed.h"

#include "error.h"
#include "type_tag.h"

#include <stdlib.h>
#include <string.h>

/* A power of two. A type past them replaces one with a text of the same hash. */
enum { SLOTS = 64 };

struct chute_typed {
    bool names_only;
    struct chute_codec_options options;
    struct chute_typed_type slots[SLOTS];
};

/* ---- one type ------------------------------------------------------------------------------ */

static void clear(struct chute_typed_type *slot) {
    free(slot->text);
    free(slot->canonical);
    free(slot->tag);
    chute_codec_free(slot->codec);
    chute_type_free(slot->type);
    *slot = (struct chute_typed_type){0};
}

static char *print(const chute_type *type) {
    size_t len = chute_type_print(type, NULL, 0);
    char *text = malloc(len + 1);
    if (text) chute_type_print(type, text, len + 1);
    return text;
}

/* Dynamic itself knows NULL, and has no Nullable inside: LowCardinality(Nullable(String)) goes as
 * LowCardinality(String). */
static const chute_type *without_null(const chute_type *type, bool *low_cardinality) {
    *low_cardinality = type->kind == CHUTE_TYPE_LOW_CARDINALITY;
    if (*low_cardinality) type = type->children[0];
    return type->kind == CHUTE_TYPE_NULLABLE ? type->children[0] : type;
}

static int write_tag(struct chute_typed_type *slot, const chute_type *type, bool low_cardinality,
                     chute_error *err) {
    chute_text text = {0};
    if (low_cardinality) chute_text_add(&text, "\x26", 1);
    int rc = chute_type_tag(type, &text, err);
    slot->tag = (uint8_t *)text.at;
    slot->tag_len = text.len;
    return rc;
}

static int bind(struct chute_typed_type *slot, const struct chute_codec_options *options,
                chute_error *err) {
    bool low_cardinality;
    const chute_type *type = without_null(slot->type, &low_cardinality);
    slot->codec = chute_codec_new(type, options, err);
    if (!slot->codec) return err->kind;
    return write_tag(slot, type, low_cardinality, err);
}

static int build(struct chute_typed_type *slot, const char *text, size_t len, chute_error *err) {
    slot->type = chute_type_parse(text, len, err);
    if (!slot->type) return err->kind;
    slot->text = malloc(len + 1);
    slot->canonical = print(slot->type);
    if (!slot->text || !slot->canonical) return chute_fail(err, CHUTE_E_NOMEM, "out of memory");
    memcpy(slot->text, text, len);
    slot->text_len = len;
    return CHUTE_OK;
}

/* ---- all of them --------------------------------------------------------------------------- */

chute_typed *chute_typed_new(const struct chute_codec_options *options) {
    chute_typed *typed = calloc(1, sizeof *typed);
    if (!typed) return NULL;
    typed->names_only = !options;
    if (options) typed->options = *options;
    return typed;
}

void chute_typed_free(chute_typed *typed) {
    if (!typed) return;
    for (size_t i = 0; i < SLOTS; i++) clear(typed->slots + i);
    free(typed);
}

static size_t hash(const char *text, size_t len) {
    uint64_t value = len;
    for (size_t i = 0; i < len; i++) value = (value ^ (uint8_t)text[i]) * 0x100000001B3u;
    return (size_t)(value >> 32 ^ value) & (SLOTS - 1);
}

static const struct chute_typed_type *find(chute_typed *typed, const char *text, size_t len,
                                           chute_error *err) {
    struct chute_typed_type *slot = typed->slots + hash(text, len);
    if (slot->text && slot->text_len == len && memcmp(slot->text, text, len) == 0) return slot;
    clear(slot);
    int rc = build(slot, text, len, err);
    if (rc == CHUTE_OK && !typed->names_only) rc = bind(slot, &typed->options, err);
    if (rc == CHUTE_OK) return slot;
    clear(slot);
    return NULL;
}

const struct chute_typed_type *chute_typed_open(chute_typed *typed, chute_row *row,
                                                const chute_cell *cell, const chute_cell **value) {
    chute_error err;
    const chute_cell *parts = chute_row_children(row, cell, 2);
    if (!parts) return NULL;
    const struct chute_typed_type *found = NULL;
    if (parts[0].kind != CHUTE_CELL_STRING)
        chute_row_refuse(row, parts, " is not the text of a type");
    else if (!(found = find(typed, parts[0].ptr, parts[0].len, &err)))
        chute_row_refuse(row, parts, " is no type of a value: %s", err.message);
    *value = parts + 1;
    return found;
}
