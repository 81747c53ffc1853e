/* Codec of JSON, in one of two ways that the whole INSERT shares:
 *
 *   as text    │ String: the object as JSON text │    with input_format_binary_read_json_as_string
 *   as paths   │ leb count │ path │ value │ path │ value │ …
 *              values at typed paths as their types, at others as Dynamic
 */
#include "dynamic.h"
#include "error.h"
#include "json_parse.h"
#include "json_paths.h"
#include "json_write.h"
#include "wire.h"

#include <stdlib.h>
#include <string.h>

enum { COUNT_MAX = 5, PATH_MAX_BYTES = 1 << 20 }; /* leb of 32 bits */

struct chute_json {
    struct chute_dynamic dynamic;
    const chute_type *type;    /* borrowed */
    chute_codec *const *typed; /* of the typed paths, in the type's order: the codec's children */
    const bool *as_text;       /* borrowed from the schema */
    chute_json_paths *paths;   /* owned, as is all below */
    chute_json_parser *parser;
    char *path; /* of the value that is being written */
    size_t path_len, path_capacity;
};

/* ---- paths --------------------------------------------------------------------------------- */

static bool grow_path(struct chute_json *json, size_t need) {
    if (need <= json->path_capacity) return true;
    size_t capacity = json->path_capacity ? json->path_capacity : 256;
    while (capacity < need) capacity *= 2;
    char *path = realloc(json->path, capacity);
    if (!path) return false;
    json->path = path;
    json->path_capacity = capacity;
    return true;
}

/* Adds a key, `dot` saying that others go before it. */
static bool push(struct chute_json *json, bool dot, chute_row *row, const chute_cell *key) {
    size_t len = json->path_len + dot + key->len;
    if (len > PATH_MAX_BYTES || !grow_path(json, len)) {
        chute_row_refuse(row, key, " makes a path of over %d bytes", PATH_MAX_BYTES);
        return false;
    }
    if (dot) json->path[json->path_len] = '.';
    if (key->len) memcpy(json->path + json->path_len + dot, key->ptr, key->len);
    json->path_len = len;
    return true;
}

static int compare(const char *name, const char *path, size_t len) {
    size_t name_len = strlen(name);
    int order = memcmp(name, path, name_len < len ? name_len : len);
    return order ? order : (name_len > len) - (name_len < len);
}

/* The codec of a typed path, or NULL. */
static const chute_codec *find_typed(const struct chute_json *json) {
    size_t low = 0, high = json->type->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare(json->type->names[middle], json->path, json->path_len);
        if (order == 0) return json->typed[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* SKIP a: a server obeys it for `a.b` in text, and must be spared it among paths. (SKIP REGEXP it
 * sees to itself, in either.) */
static bool is_skipped(const struct chute_json *json) {
    for (size_t i = 0; i < json->type->skip_path_count; i++) {
        const char *skip = json->type->skip_paths[i];
        size_t len = strlen(skip);
        if (len <= json->path_len && memcmp(skip, json->path, len) == 0 &&
            (len == json->path_len || json->path[len] == '.'))
            return true;
    }
    return false;
}

/* ---- as paths ------------------------------------------------------------------------------ */

/* An object that is being written: its paths begin at `base` of json->path. */
struct object {
    struct chute_json *json;
    struct chute_json_limits limits;
    size_t base;
    uint32_t depth; /* of objects in it */
    uint32_t count; /* of paths */
    bool inside;    /* of a list: no path is typed there */
};

static uint8_t *put_value(struct object *object, chute_row *row, const chute_codec *typed,
                          const chute_cell *value, uint8_t *out) {
    const struct chute_json *json = object->json;
    size_t len = json->path_len - object->base;
    size_t need = typed ? chute_codec_need(typed, row, value) : CHUTE_DYNAMIC_BOUND;
    if (!chute_row_claim(row, CHUTE_LEB_MAX + len + need)) return NULL;
    out = chute_put_leb(out, len);
    memcpy(out, json->path + object->base, len);
    out += len;
    object->count++;
    if (typed) return chute_codec_part(typed, row, value, out);
    return chute_dynamic_put(&json->dynamic, object->limits, row, value, out);
}

static uint8_t *put_pairs(struct object *object, chute_row *row, const chute_cell *cell,
                          uint8_t *out);

/* A NULL is left out, but at typed paths that take it: the server puts it, or the typed path's
 * default, in place of what is absent. */
static uint8_t *put_pair(struct object *object, chute_row *row, const chute_cell *key,
                         uint8_t *out) {
    struct chute_json *json = object->json;
    const chute_cell *value = key + 1;
    size_t len = json->path_len;
    if (!push(json, object->depth > 1, row, key)) return NULL;
    const chute_codec *typed = object->inside ? NULL : find_typed(json);
    bool skipped = !object->inside && is_skipped(json);
    if (!skipped && value->kind == CHUTE_CELL_PAIRS && !typed)
        out = put_pairs(object, row, value, out);
    else if (!skipped && (value->kind != CHUTE_CELL_NULL || (typed && typed->takes_null)))
        out = put_value(object, row, typed, value, out);
    json->path_len = len;
    return out;
}

static uint8_t *put_pairs(struct object *object, chute_row *row, const chute_cell *cell,
                          uint8_t *out) {
    const chute_cell *key = chute_row_children(row, cell, chute_cell_parts(cell));
    object->depth++;
    for (uint32_t i = 0; key && i < cell->len; i++, key += 2) {
        out = put_pair(object, row, key, out);
        if (!out)
            return chute_row_step(row, (struct chute_step){.kind = CHUTE_STEP_KEY, .key = key});
    }
    object->depth--;
    return key ? out : NULL;
}

/* How many paths there are is known at the end, and goes before them. */
static uint8_t *put_paths(struct object *object, chute_row *row, const chute_cell *cell,
                          uint8_t *out) {
    if (!chute_row_claim(row, COUNT_MAX)) return NULL;
    uint8_t *from = out + COUNT_MAX, *end = put_pairs(object, row, cell, from);
    if (!end) return NULL;
    out = chute_put_leb(out, object->count);
    memmove(out, from, (size_t)(end - from));
    return out + (end - from);
}

uint8_t *chute_json_put_object(struct chute_json *json, struct chute_json_limits limits,
                               chute_row *row, const chute_cell *cell, uint8_t *out) {
    size_t len = json->path_len;
    struct object object = {.json = json, .limits = limits, .base = len, .inside = true};
    out = put_paths(&object, row, cell, out);
    json->path_len = len;
    return out;
}

static uint8_t *put_as_paths(struct chute_json *json, chute_row *row, const chute_cell *cell,
                             uint8_t *out) {
    struct chute_json_limits limits = {json->type->precision, json->type->scale};
    struct object object = {.json = json, .limits = limits};
    json->path_len = 0;
    return put_paths(&object, row, cell, out);
}

/* ---- as text ------------------------------------------------------------------------------- */

/* The length goes before the text, and is known after it. */
static uint8_t *put_as_text(chute_row *row, const chute_cell *cell, uint8_t *out) {
    if (!chute_row_claim(row, COUNT_MAX)) return NULL;
    uint8_t *from = out + COUNT_MAX, *end = chute_json_write(row, cell, from);
    if (!end) return NULL;
    size_t len = (size_t)(end - from);
    if (len > UINT32_MAX) return chute_row_refuse(row, cell, " makes a JSON text of over 4 GiB");
    out = chute_put_leb(out, len);
    memmove(out, from, len);
    return out + len;
}

/* ---- values -------------------------------------------------------------------------------- */

static uint8_t *put_object(struct chute_json *json, chute_row *row, const chute_cell *cell,
                           uint8_t *out) {
    if (!chute_json_paths_check(json->paths, row, cell)) return NULL;
    return *json->as_text ? put_as_text(row, cell, out) : put_as_paths(json, row, cell, out);
}

/* Text is read here too: one that is no JSON would have the server refuse the whole INSERT. */
static uint8_t *put_text(struct chute_json *json, chute_row *row, const chute_cell *cell,
                         uint8_t *out) {
    const char *why;
    size_t at;
    const chute_cells *cells = chute_json_parse(json->parser, cell->ptr, cell->len, &why, &at);
    if (!cells) return chute_row_refuse(row, cell, " is no JSON object: %s at byte %zu", why, at);
    chute_row inner = {.cells = cells->at, .used = cells->used, .next = 1, .room = row->room};
    if (!chute_json_paths_check(json->paths, &inner, cells->at))
        out = NULL;
    else if (*json->as_text)
        return chute_row_put_text(row, cell, out);
    else
        out = put_as_paths(json, &inner, cells->at, out);
    row->room = inner.room;
    if (out) return out;
    row->cramped = inner.cramped;
    row->depth = inner.depth;
    memcpy(row->path, inner.path, sizeof row->path);
    memcpy(row->reason, inner.reason, sizeof row->reason);
    return NULL;
}

static uint8_t *put_json(const chute_codec *codec, chute_row *row, const chute_cell *cell,
                         uint8_t *out) {
    if (cell->kind == CHUTE_CELL_PAIRS) return put_object(codec->state, row, cell, out);
    if (cell->kind == CHUTE_CELL_STRING) return put_text(codec->state, row, cell, out);
    return chute_row_refuse(row, cell, " is neither a table of keys and values nor JSON text");
}

/* ---- binding ------------------------------------------------------------------------------- */

static void free_json(void *state) {
    struct chute_json *json = state;
    chute_typed_free(json->dynamic.typed);
    chute_json_paths_free(json->paths);
    chute_json_parser_free(json->parser);
    free(json->path);
    free(json);
}

int chute_bind_json(chute_codec *codec, const struct chute_codec_options *options,
                    chute_error *err) {
    struct chute_json *json = calloc(1, sizeof *json);
    if (!json) return chute_fail(err, CHUTE_E_NOMEM, "out of memory");
    codec->state = json;
    codec->free_state = free_json;
    codec->put = put_json;
    codec->name = "json";
    codec->bound = CHUTE_LEB_MAX + CHUTE_SHORT;
    int rc = chute_codec_bind_children(codec, options, err);
    if (rc != CHUTE_OK) return rc;
    json->type = codec->type;
    json->typed = codec->children;
    json->as_text = options->json_text;
    json->dynamic.json = json;
    json->dynamic.typed = chute_typed_new(options);
    json->paths = chute_json_paths_new(codec->type);
    json->parser = chute_json_parser_new();
    return json->dynamic.typed && json->paths && json->parser && grow_path(json, 1)
               ? CHUTE_OK
               : chute_fail(err, CHUTE_E_NOMEM, "out of memory");
}
