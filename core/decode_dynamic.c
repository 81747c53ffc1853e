/* Decoding of values that bring their type: Variant, Dynamic, JSON. */
#include "decoder.h"
#include "type_untag.h"

#include <stdlib.h>
#include <string.h>

enum { TAGGED_MAX = 256, SEARCHED_MAX = 16, NO_VALUE = 0xFF };

/* A type that a Dynamic value brought, kept for the next value with the same tag. */
struct chute_tagged {
    struct chute_tagged *next; /* with the same first byte */
    chute_type *type;          /* owned */
    size_t len;                /* of the tag */
    uint8_t tag[];
};

/* ---- types -------------------------------------------------------------------------------- */

void chute_decode_forget_tagged(chute_decoder *decoder) {
    for (unsigned i = 0; i < 256 && decoder->tagged_count; i++) {
        struct chute_tagged *at = decoder->tagged[i], *next;
        decoder->tagged[i] = NULL;
        for (; at; at = next, decoder->tagged_count--) {
            next = at->next;
            chute_type_free(at->type);
            free(at);
        }
    }
}

/* No tag is the beginning of another. */
static const struct chute_tagged *find_tagged(const chute_decoder *decoder) {
    size_t left = chute_decode_left(decoder);
    const struct chute_tagged *at = decoder->tagged[*decoder->at];
    for (unsigned i = 0; at && i < SEARCHED_MAX; at = at->next, i++)
        if (at->len <= left && memcmp(at->tag, decoder->at, at->len) == 0) return at;
    return NULL;
}

static int keep_tagged(chute_decoder *decoder, chute_type *type, size_t len) {
    struct chute_tagged *tagged = malloc(sizeof *tagged + len);
    if (!tagged) {
        chute_type_free(type);
        return chute_decode_no_memory(decoder);
    }
    tagged->type = type;
    tagged->len = len;
    memcpy(tagged->tag, decoder->at, len);
    tagged->next = decoder->tagged[*decoder->at];
    decoder->tagged[*decoder->at] = tagged;
    decoder->tagged_count++;
    return 0;
}

/* Types live until a row begins while there are many: values of this row may borrow from them. */
void chute_decode_begin_types(chute_decoder *decoder) {
    if (decoder->tagged_count > TAGGED_MAX) chute_decode_forget_tagged(decoder);
}

/* The type that a tag stands for; NULL: Nothing. */
static int read_type(chute_decoder *decoder, const chute_type **type) {
    chute_error err;
    chute_type *read;
    size_t used;
    *type = NULL;
    if (chute_decode_left(decoder) == 0) return CHUTE_DECODE_MORE;
    const struct chute_tagged *known = find_tagged(decoder);
    if (known) {
        decoder->at += known->len;
        *type = known->type;
        return 0;
    }
    int code = chute_type_untag(decoder->at, chute_decode_left(decoder), &read, &used, &err);
    if (code < 0) return chute_decode_fail(decoder, "a Dynamic value of %.400s", err.message);
    if (code == 0 && read) code = keep_tagged(decoder, read, used);
    if (code == 0) decoder->at += used;
    *type = read;
    return code;
}

/* ---- values with their type --------------------------------------------------------------- */

static int open_typed(chute_decoder *decoder, const chute_type *type, uint32_t cell,
                      uint32_t *value) {
    uint32_t first = 0;
    int code = chute_decode_open(decoder, cell, CHUTE_CELL_TYPED, 2, 2, &first);
    if (code) return code;
    size_t len = chute_type_print(type, NULL, 0);
    char *text = chute_decode_room(decoder, len + 1);
    if (!text) return chute_decode_no_memory(decoder);
    chute_type_print(type, text, len + 1);
    *value = first + 1;
    return chute_decode_text(decoder, first, text, len);
}

static int decode_typed(chute_decoder *decoder, const chute_type *type, uint32_t cell) {
    uint32_t value = 0;
    int code = open_typed(decoder, type, cell, &value);
    return code ? code : chute_decode(decoder, type, value);
}

int chute_decode_variant(chute_decoder *decoder, const chute_type *type, uint32_t cell) {
    const uint8_t *which = chute_decode_take(decoder, 1);
    if (!which) return CHUTE_DECODE_MORE;
    if (*which < type->count) return decode_typed(decoder, type->children[*which], cell);
    if (*which != NO_VALUE)
        return chute_decode_fail(decoder, "alternative %u of a %s of %zu", *which, type->name,
                                 type->count);
    chute_decode_cell(decoder, cell)->kind = CHUTE_CELL_NULL;
    return 0;
}

/* Whether a plain value of that type is taken for one when it is written to a Dynamic. */
static bool is_inferred(const chute_type *type) {
    switch (type->kind) {
    case CHUTE_TYPE_STRING:
    case CHUTE_TYPE_BOOL:
    case CHUTE_TYPE_INT64:
    case CHUTE_TYPE_UINT64: return true;
    default: return false;
    }
}

int chute_decode_dynamic(chute_decoder *decoder, const chute_type *type, uint32_t cell) {
    const chute_type *own;
    (void)type;
    int code = read_type(decoder, &own);
    if (code) return code;
    if (own) return (is_inferred(own) ? chute_decode : decode_typed)(decoder, own, cell);
    chute_decode_cell(decoder, cell)->kind = CHUTE_CELL_NULL;
    return 0;
}

/* ---- JSON --------------------------------------------------------------------------------- */

static const chute_type *find_path(const chute_type *type, const uint8_t *path, size_t len) {
    size_t low = 0, high = type->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const char *name = type->names[middle];
        size_t name_len = strlen(name);
        int order = memcmp(name, path, name_len < len ? name_len : len);
        if (order == 0 && name_len == len) return type->children[middle];
        if (order < 0 || (order == 0 && name_len < len))
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static int decode_path(chute_decoder *decoder, const chute_type *type, uint32_t cell) {
    const uint8_t *path;
    size_t len;
    int code = chute_decode_bytes(decoder, &path, &len);
    if (code) return code;
    chute_cell *key = chute_decode_cell(decoder, cell);
    key->kind = CHUTE_CELL_STRING;
    key->ptr = (const char *)path;
    key->len = (uint32_t)len;
    const chute_type *typed = find_path(type, path, len);
    if (typed) return chute_decode(decoder, typed, cell + 1);
    return chute_decode_dynamic(decoder, NULL, cell + 1);
}

/* Each path takes a byte for its name and one for its value. */
int chute_decode_json(chute_decoder *decoder, const chute_type *type, uint32_t cell) {
    uint64_t count = 0;
    uint32_t first = 0;
    if (decoder->flags & CHUTE_DECODE_JSON_TEXT) return chute_decode_string(decoder, type, cell);
    int code = chute_decode_leb(decoder, &count);
    if (code) return code;
    if (count > CHUTE_ROW_BYTES_MAX)
        return chute_decode_fail(decoder, "%llu paths", (unsigned long long)count);
    if (count > chute_decode_left(decoder)) return CHUTE_DECODE_MORE;
    uint32_t paths = (uint32_t)count;
    code = chute_decode_open(decoder, cell, CHUTE_CELL_PATHS, paths, paths * 2, &first);
    for (uint32_t i = 0; i < paths && code == 0; i++)
        code = decode_path(decoder, type, first + 2 * i);
    return code;
}
