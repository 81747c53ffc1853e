#include "schema.h"

#include "error.h"
#include "wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_COLUMNS = 10000, MAX_NAME = 4096, MAX_DEFAULT = 1 << 20 };

static const char *const FORMATS[] = {
    [CHUTE_FORMAT_ROW_BINARY] = "RowBinary",
    [CHUTE_FORMAT_ROW_BINARY_WITH_NAMES] = "RowBinaryWithNames",
    [CHUTE_FORMAT_ROW_BINARY_WITH_NAMES_AND_TYPES] = "RowBinaryWithNamesAndTypes",
    [CHUTE_FORMAT_ROW_BINARY_WITH_DEFAULTS] = "RowBinaryWithDefaults",
};
enum { FORMAT_COUNT = sizeof FORMATS / sizeof *FORMATS };

int chute_format_find(const char *name, size_t len) {
    for (int i = 0; i < FORMAT_COUNT; i++)
        if (strlen(FORMATS[i]) == len && memcmp(FORMATS[i], name, len) == 0) return i;
    return CHUTE_E_ARG;
}

const char *chute_format_name(int format) {
    return FORMATS[format];
}

static char *copy_text(const char *text, size_t len) {
    char *copy = malloc(len + 1);
    if (!copy) return NULL;
    memcpy(copy, text, len);
    copy[len] = '\0';
    return copy;
}

/* ---- life ---------------------------------------------------------------------------------- */

chute_schema *chute_schema_new(int format, const char *zone, size_t zone_len, chute_error *err) {
    if (format < 0 || format >= FORMAT_COUNT) {
        chute_fail(err, CHUTE_E_ARG, "no such format: %d", format);
        return NULL;
    }
    chute_zone *known = chute_zone_open(zone, zone_len, err);
    if (!known) return NULL;
    chute_zone_free(known);
    chute_schema *schema = calloc(1, sizeof *schema);
    char *copy = copy_text(zone, zone_len);
    if (!schema || !copy) {
        free(schema);
        free(copy);
        chute_fail(err, CHUTE_E_NOMEM, "out of memory");
        return NULL;
    }
    atomic_init(&schema->refs, 1);
    schema->format = format;
    schema->zone = copy;
    schema->zone_len = zone_len;
    return schema;
}

chute_schema *chute_schema_keep(chute_schema *schema) {
    atomic_fetch_add_explicit(&schema->refs, 1, memory_order_relaxed);
    return schema;
}

static void free_column(struct chute_column *column) {
    chute_codec_free(column->codec);
    chute_type_free(column->type);
    free(column->name);
    free(column->absent);
}

void chute_schema_free(chute_schema *schema) {
    if (!schema || atomic_fetch_sub_explicit(&schema->refs, 1, memory_order_acq_rel) > 1) return;
    for (uint32_t i = 0; i < schema->count; i++) free_column(schema->columns + i);
    chute_encoder_free(schema->encoder);
    free(schema->columns);
    free(schema->header);
    free(schema->zone);
    free(schema);
}

/* ---- columns ------------------------------------------------------------------------------- */

static int grow(chute_schema *schema, chute_error *err) {
    if (schema->count < schema->capacity) return CHUTE_OK;
    if (schema->count >= MAX_COLUMNS)
        return chute_fail(err, CHUTE_E_SCHEMA, "more than %d columns", MAX_COLUMNS);
    uint32_t capacity = schema->capacity ? schema->capacity * 2 : 16;
    struct chute_column *columns = realloc(schema->columns, capacity * sizeof *columns);
    if (!columns) return chute_fail(err, CHUTE_E_NOMEM, "out of memory");
    schema->columns = columns;
    schema->capacity = capacity;
    return CHUTE_OK;
}

static int check_name(const chute_schema *schema, const char *name, size_t len, chute_error *err) {
    char quoted[CHUTE_QUOTE_MAX];
    if (len == 0) return chute_fail(err, CHUTE_E_SCHEMA, "a column without a name");
    if (len > MAX_NAME)
        return chute_fail(err, CHUTE_E_SCHEMA, "a column name of over %d bytes", MAX_NAME);
    chute_quote(name, len, quoted, sizeof quoted);
    if (memchr(name, '\0', len))
        return chute_fail(err, CHUTE_E_SCHEMA, "column %s: a NUL byte in its name", quoted);
    for (uint32_t i = 0; i < schema->count; i++)
        if (schema->columns[i].name_len == len && memcmp(schema->columns[i].name, name, len) == 0)
            return chute_fail(err, CHUTE_E_SCHEMA, "column %s is there twice", quoted);
    return CHUTE_OK;
}

/* Puts "column 'name': " before the message of an error. */
static void name_column(chute_error *err, const char *name, size_t len, uint32_t index) {
    if (!err) return;
    char quoted[CHUTE_QUOTE_MAX], message[sizeof err->message];
    snprintf(message, sizeof message, "column %s: %.700s",
             chute_quote(name, len, quoted, sizeof quoted), err->message);
    memcpy(err->message, message, sizeof message);
    err->column = (int32_t)index;
}

static bool is_flagged(const chute_schema *schema) {
    return schema->format == CHUTE_FORMAT_ROW_BINARY_WITH_DEFAULTS;
}

/* What stands for an absent value unless the column gets a default: the flag that asks for the
 * server's, else NULL where that is a value. */
static int set_absent(const chute_schema *schema, struct chute_column *column, chute_error *err) {
    const chute_codec *codec = column->codec;
    if (!is_flagged(schema) && !codec->takes_null) return CHUTE_OK;
    column->absent = malloc(1 + CHUTE_WIRE_SLACK);
    if (!column->absent) return chute_fail(err, CHUTE_E_NOMEM, "out of memory");
    column->absent[0] = 1;
    column->absent_len = 1;
    if (is_flagged(schema)) return CHUTE_OK;
    chute_row row = {.next = 0};
    chute_cell null = {.kind = CHUTE_CELL_NULL};
    uint8_t *end = codec->put(codec, &row, &null, column->absent);
    column->absent_len = (uint32_t)(end - column->absent);
    return CHUTE_OK;
}

static int build_column(const chute_schema *schema, struct chute_column *column, const char *type,
                        size_t type_len, uint32_t unit, chute_error *err) {
    struct chute_codec_options options = {.unit = unit,
                                          .zone = schema->zone,
                                          .zone_len = schema->zone_len,
                                          .json_text = &schema->json_text};
    if (unit > 9) return chute_fail(err, CHUTE_E_SCHEMA, "no such unit");
    column->type = chute_type_parse(type, type_len, err);
    if (!column->type) return CHUTE_E_SCHEMA;
    column->codec = chute_codec_new(column->type, &options, err);
    if (!column->codec) return CHUTE_E_SCHEMA;
    return set_absent(schema, column, err);
}

int chute_schema_add(chute_schema *schema, const char *name, size_t name_len, const char *type,
                     size_t type_len, uint32_t unit, chute_error *err) {
    if (schema->encoder) return chute_fail(err, CHUTE_E_SCHEMA, "the schema is compiled already");
    int rc = check_name(schema, name, name_len, err);
    if (rc == CHUTE_OK) rc = grow(schema, err);
    if (rc != CHUTE_OK) return rc;
    struct chute_column column = {.name = copy_text(name, name_len), .name_len = name_len};
    rc = column.name ? build_column(schema, &column, type, type_len, unit, err)
                     : chute_fail(err, CHUTE_E_NOMEM, "out of memory");
    if (rc != CHUTE_OK) {
        name_column(err, name, name_len, schema->count);
        free_column(&column);
        return rc;
    }
    schema->columns[schema->count++] = column;
    return CHUTE_OK;
}

void chute_schema_set_json_text(chute_schema *schema, int as_text) {
    schema->json_text = as_text != 0;
}

uint32_t chute_schema_count(const chute_schema *schema) {
    return schema->count;
}

const chute_type *chute_schema_type(const chute_schema *schema, uint32_t column) {
    return column < schema->count ? schema->columns[column].type : NULL;
}

/* ---- failures ------------------------------------------------------------------------------ */

/* "row 7, column 'props'["k"][3] (Map(…)): value and reason" */
static void tell(const struct chute_column *column, const chute_row *row, uint64_t row_number,
                 chute_error *err) {
    char name[CHUTE_QUOTE_MAX], path[512], type[256], place[32] = "";
    chute_quote(column->name, column->name_len, name, sizeof name);
    chute_row_path(row, path, sizeof path);
    if (chute_type_print(column->type, type, sizeof type) >= sizeof type)
        memcpy(type + sizeof type - 4, "...", 4);
    if (row_number) snprintf(place, sizeof place, "row %llu, ", (unsigned long long)row_number);
    chute_fail(err, CHUTE_E_ROW, "%scolumn %s%s (%s): %s", place, name, path, type, row->reason);
    if (!err) return;
    err->column = (int32_t)row->column;
    err->row = (int64_t)row_number;
}

/* ---- defaults ------------------------------------------------------------------------------ */

/* Bytes of long texts, and of what codecs claim as far as it is no more. */
static size_t text_len(const chute_cells *cells) {
    size_t len = 0;
    for (uint32_t i = 0; i < cells->used; i++)
        if (cells->at[i].kind == CHUTE_CELL_STRING) len += cells->at[i].len;
    return len;
}

static int keep_default(struct chute_column *column, uint8_t *bytes, uint32_t len) {
    free(column->absent);
    column->absent = bytes;
    column->absent_len = len;
    return CHUTE_OK;
}

int chute_schema_set_default(chute_schema *schema, uint32_t column, const chute_cells *cells,
                             chute_error *err) {
    if (column >= schema->count || schema->encoder || cells->used == 0)
        return chute_fail(err, CHUTE_E_ARG, "no column %u to give a default", column);
    struct chute_column *of = schema->columns + column;
    bool flagged = is_flagged(schema);
    size_t least = of->codec->bound + (size_t)cells->used * chute_codec_child_bound(of->codec);
    size_t room = text_len(cells);
    chute_row row;
    for (;; room = room * 2 + CHUTE_SHORT) {
        if (least + room > MAX_DEFAULT)
            return chute_fail(err, CHUTE_E_SCHEMA, "the default is larger than %d bytes",
                              MAX_DEFAULT);
        uint8_t *bytes = malloc(1 + least + room + CHUTE_WIRE_SLACK), *end = NULL;
        if (!bytes) return chute_fail(err, CHUTE_E_NOMEM, "out of memory");
        row = (chute_row){
            .cells = cells->at, .used = cells->used, .next = 1, .room = room, .column = column};
        bytes[0] = 0;
        struct chute_slot slot = {.codec = of->codec, .nullable = of->codec->takes_null};
        end = chute_encoder_put(&slot, &row, cells->at, bytes + flagged);
        if (end) return keep_default(of, bytes, (uint32_t)(end - bytes));
        free(bytes);
        if (!row.cramped) break;
    }
    tell(of, &row, 0, err);
    if (err) err->kind = CHUTE_E_SCHEMA;
    return CHUTE_E_SCHEMA;
}

/* ---- columns of one Nested ----------------------------------------------------------------- */

/* Bytes of the name up to its first dot where the column may be `n.a` of a Nested `n`, else 0. */
static size_t nested_len(const struct chute_column *column) {
    const char *dot = memchr(column->name, '.', column->name_len);
    if (!dot || column->type->kind != CHUTE_TYPE_ARRAY) return 0;
    return dot + 1 < column->name + column->name_len ? (size_t)(dot - column->name) : 0;
}

static void find_peers(chute_schema *schema) {
    for (uint32_t i = 0; i < schema->count; i++) {
        struct chute_column *column = schema->columns + i;
        size_t len = nested_len(column);
        column->peer = i;
        for (uint32_t j = 0; len && j < i && column->peer == i; j++)
            if (nested_len(schema->columns + j) == len &&
                memcmp(schema->columns[j].name, column->name, len) == 0)
                column->peer = j;
        if (column->peer == i) continue;
        if (schema->peers_end == 0) schema->peers_from = i;
        schema->peers_end = i + 1;
    }
}

/* Elements of a column's array; false: the server's default, of a length not known here. */
static bool count_elements(const chute_schema *schema, const chute_cell *cell, uint32_t i,
                           uint64_t *count) {
    const struct chute_column *column = schema->columns + i;
    *count = cell->len;
    if (cell->kind > CHUTE_CELL_NULL) return true;
    const uint8_t *at = column->absent;
    if (is_flagged(schema) && *at++) return false;
    *count = 0;
    for (uint32_t shift = 0;; shift += 7) {
        *count |= (uint64_t)(*at & 0x7F) << shift;
        if (!(*at++ & 0x80)) return true;
    }
}

/* Arrays of one Nested have one length: else the server refuses the whole INSERT. */
static bool check_peers(const chute_schema *schema, const chute_cells *cells, chute_row *row) {
    for (uint32_t i = schema->peers_from; i < schema->peers_end; i++) {
        const struct chute_column *column = schema->columns + i;
        uint64_t own, other;
        if (column->peer == i || !count_elements(schema, cells->at + i, i, &own) ||
            !count_elements(schema, cells->at + column->peer, column->peer, &other) || own == other)
            continue;
        row->column = i;
        chute_row_refuse(row, cells->at + i, " where %.200s, of the same Nested, has %llu",
                         schema->columns[column->peer].name, (unsigned long long)other);
        return false;
    }
    return true;
}

/* ---- compiling ----------------------------------------------------------------------------- */

/* Names, and types where the format has them: leb count, then strings. */
static uint8_t *write_header(const chute_schema *schema, uint8_t *out) {
    if (schema->format == CHUTE_FORMAT_ROW_BINARY || is_flagged(schema)) return out;
    out = chute_put_leb(out, schema->count);
    for (uint32_t i = 0; i < schema->count; i++)
        out = chute_put_string(out, schema->columns[i].name, schema->columns[i].name_len);
    if (schema->format != CHUTE_FORMAT_ROW_BINARY_WITH_NAMES_AND_TYPES) return out;
    for (uint32_t i = 0; i < schema->count; i++) {
        size_t len = chute_type_print(schema->columns[i].type, NULL, 0);
        out = chute_put_leb(out, len);
        chute_type_print(schema->columns[i].type, (char *)out, len + 1);
        out += len;
    }
    return out;
}

static size_t header_bound(const chute_schema *schema) {
    size_t need = CHUTE_LEB_MAX + CHUTE_WIRE_SLACK;
    for (uint32_t i = 0; i < schema->count; i++)
        need += 2 * CHUTE_LEB_MAX + schema->columns[i].name_len +
                chute_type_print(schema->columns[i].type, NULL, 0);
    return need;
}

int chute_schema_compile(chute_schema *schema, chute_error *err) {
    if (schema->encoder) return CHUTE_OK;
    if (schema->count == 0) return chute_fail(err, CHUTE_E_SCHEMA, "a schema without columns");
    schema->header = malloc(header_bound(schema));
    find_peers(schema);
    if (schema->header)
        schema->encoder = chute_encoder_new(schema->columns, schema->count, is_flagged(schema));
    if (!schema->encoder) {
        free(schema->header);
        schema->header = NULL;
        return chute_fail(err, CHUTE_E_NOMEM, "out of memory");
    }
    schema->header_len = (size_t)(write_header(schema, schema->header) - schema->header);
    return CHUTE_OK;
}

int chute_schema_encode(const chute_schema *schema, const chute_cells *cells, uint64_t row_number,
                        uint8_t *out, size_t room, size_t *len, chute_error *err) {
    chute_row row;
    if (cells->used < schema->count)
        return chute_fail(err, CHUTE_E_ARG, "row %llu has %u cells for %u columns",
                          (unsigned long long)row_number, cells->used, schema->count);
    uint8_t *end = chute_encoder_run(schema->encoder, cells, &row, out, room);
    if (end && !check_peers(schema, cells, &row)) end = NULL;
    if (end) {
        *len = (size_t)(end - out);
        return CHUTE_OK;
    }
    if (row.cramped) return CHUTE_E_FULL;
    tell(schema->columns + row.column, &row, row_number, err);
    return CHUTE_E_ROW;
}

/* ---- explaining ---------------------------------------------------------------------------- */

/* Like snprintf at `at`, counting on past the end. */
static size_t append(char *out, size_t capacity, size_t at, const char *text) {
    size_t len = strlen(text);
    if (at < capacity) snprintf(out + at, capacity - at, "%s", text);
    return at + len;
}

static size_t explain_column(const struct chute_column *column, char *out, size_t capacity,
                             size_t at) {
    char text[CHUTE_QUOTE_MAX];
    at = append(out, capacity, at, "  ");
    at = append(out, capacity, at, chute_quote(column->name, column->name_len, text, sizeof text));
    chute_type_print(column->type, text, sizeof text);
    at = append(out, capacity, at, " ");
    at = append(out, capacity, at, text);
    at = append(out, capacity, at, ": ");
    at = append(out, capacity, at, column->codec->name);
    if (column->absent) {
        snprintf(text, sizeof text, ", absent: %u bytes", column->absent_len);
        at = append(out, capacity, at, text);
    }
    return append(out, capacity, at, "\n");
}

size_t chute_schema_explain(const chute_schema *schema, char *out, size_t capacity) {
    size_t at = 0;
    char line[128];
    if (capacity) out[0] = '\0';
    if (!schema->encoder) return 0;
    const struct chute_slot *slots = schema->encoder->slots;
    for (uint32_t i = 0, links = 1; i < schema->count; links++) {
        uint32_t end = i + 1;
        while (slots[end - 1].fused) end++;
        snprintf(line, sizeof line, "%u %s × %u\n", links, chute_encoder_link_name(slots + i),
                 end - i);
        at = append(out, capacity, at, line);
        for (; i < end; i++) at = explain_column(schema->columns + i, out, capacity, at);
    }
    return at;
}
