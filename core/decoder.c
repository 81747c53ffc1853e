#include "decoder.h"

#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS_MAX = 1 << 20, PATIENCE_BYTES = 1 << 16, ZONES_MAX = 64 };

struct chute_zone_entry {
    char *name;       /* owned */
    chute_zone *zone; /* owned; NULL: not known here */
};

/* ---- lifetime ----------------------------------------------------------------------------- */

chute_decoder *chute_decoder_new(uint32_t flags, const char *zone) {
    chute_decoder *decoder = calloc(1, sizeof *decoder);
    if (!decoder) return NULL;
    decoder->flags = flags;
    decoder->zone_name = strdup(zone && *zone ? zone : "UTC");
    if (decoder->zone_name) return decoder;
    free(decoder);
    return NULL;
}

static void forget_zones(chute_decoder *decoder) {
    for (uint32_t i = 0; i < decoder->zone_count; i++) {
        free(decoder->zones[i].name);
        chute_zone_free(decoder->zones[i].zone);
    }
    free(decoder->zones);
    decoder->zones = NULL;
    decoder->zone_count = 0;
}

static void free_columns(struct chute_decoder_column *columns, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        free(columns[i].name);
        chute_type_free(columns[i].type);
    }
    free(columns);
}

void chute_decoder_free(chute_decoder *decoder) {
    if (!decoder) return;
    free_columns(decoder->columns, decoder->count);
    forget_zones(decoder);
    chute_decode_forget_tagged(decoder);
    chute_decode_free_texts(decoder);
    chute_cells_free(decoder->cells);
    free((char *)decoder->zone_name);
    free(decoder->bytes);
    free(decoder);
}

/* ---- failing ------------------------------------------------------------------------------ */

int chute_decode_fail(chute_decoder *decoder, const char *format, ...) {
    char reason[600], name[CHUTE_QUOTE_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    if (!decoder->has_header)
        return chute_fail(&decoder->error, CHUTE_E_SERVER, "the answer cannot be read: %s", reason);
    const struct chute_decoder_column *column = &decoder->columns[decoder->column];
    chute_quote(column->name, column->name_len, name, sizeof name);
    int code = chute_fail(&decoder->error, CHUTE_E_SERVER,
                          "the answer cannot be read: row %llu, column %s: %s",
                          (unsigned long long)decoder->row, name, reason);
    decoder->error.row = (int64_t)decoder->row;
    decoder->error.column = (int32_t)decoder->column;
    return code;
}

int chute_decode_no_memory(chute_decoder *decoder) {
    return chute_fail(&decoder->error, CHUTE_E_NOMEM, "no memory for a row of the answer");
}

/* ---- bytes -------------------------------------------------------------------------------- */

static void drop_read(chute_decoder *decoder) {
    if (decoder->start == 0) return;
    decoder->len -= decoder->start;
    memmove(decoder->bytes, decoder->bytes + decoder->start, decoder->len);
    decoder->start = 0;
}

int chute_decoder_feed(chute_decoder *decoder, const char *data, size_t len, chute_error *err) {
    drop_read(decoder);
    if (len == 0) return 0;
    if (len > SIZE_MAX / 2 - decoder->len)
        return chute_fail(err, CHUTE_E_NOMEM, "no memory for the answer");
    size_t capacity = decoder->capacity ? decoder->capacity : 4096;
    while (capacity < decoder->len + len) capacity *= 2;
    if (capacity > decoder->capacity) {
        uint8_t *bytes = realloc(decoder->bytes, capacity);
        if (!bytes) return chute_fail(err, CHUTE_E_NOMEM, "no memory for the answer");
        decoder->bytes = bytes;
        decoder->capacity = capacity;
    }
    memcpy(decoder->bytes + decoder->len, data, len);
    decoder->len += len;
    return 0;
}

void chute_decoder_end(chute_decoder *decoder) {
    decoder->ended = true;
}

int chute_decode_leb(chute_decoder *decoder, uint64_t *value) {
    const uint8_t *at = decoder->at;
    *value = 0;
    for (unsigned shift = 0; at < decoder->end; shift += 7) {
        uint8_t byte = *at++;
        if (shift == 63 && byte > 1) return chute_decode_fail(decoder, "a length past 64 bits");
        *value |= (uint64_t)(byte & 0x7F) << shift;
        if (byte & 0x80) continue;
        decoder->at = at;
        return 0;
    }
    return CHUTE_DECODE_MORE;
}

int chute_decode_bytes(chute_decoder *decoder, const uint8_t **bytes, size_t *len) {
    uint64_t n = 0;
    int code = chute_decode_leb(decoder, &n);
    if (code) return code;
    if (n > CHUTE_ROW_BYTES_MAX)
        return chute_decode_fail(decoder, "a text of %llu bytes", (unsigned long long)n);
    *len = (size_t)n;
    *bytes = chute_decode_take(decoder, *len);
    return *bytes ? 0 : CHUTE_DECODE_MORE;
}

/* ---- the header --------------------------------------------------------------------------- */

/* The first type in it that no row can be read past; NULL: none. */
static const chute_type *find_opaque(const chute_type *type) {
    if (type->kind == CHUTE_TYPE_AGGREGATE_FUNCTION || type->kind == CHUTE_TYPE_OBJECT) return type;
    for (size_t i = 0; i < type->count; i++) {
        const chute_type *found = find_opaque(type->children[i]);
        if (found) return found;
    }
    return NULL;
}

static int check_type(chute_decoder *decoder, const struct chute_decoder_column *column) {
    char text[200], name[CHUTE_QUOTE_MAX];
    const chute_type *opaque = find_opaque(column->type);
    if (!opaque) return 0;
    chute_type_print(opaque, text, sizeof text);
    chute_quote(column->name, column->name_len, name, sizeof name);
    if (opaque->kind == CHUTE_TYPE_OBJECT)
        return chute_decode_fail(decoder, "column %s: %s has no form in RowBinary", name, text);
    return chute_decode_fail(decoder,
                             "column %s: states of %s have no frame and cannot be decoded: ask for "
                             "finalizeAggregation() of them",
                             name, text);
}

static int read_name(chute_decoder *decoder, struct chute_decoder_column *column) {
    const uint8_t *bytes;
    int code = chute_decode_bytes(decoder, &bytes, &column->name_len);
    if (code) return code;
    column->name = malloc(column->name_len + 1);
    if (!column->name) return chute_decode_no_memory(decoder);
    if (column->name_len) memcpy(column->name, bytes, column->name_len);
    column->name[column->name_len] = '\0';
    return 0;
}

static int read_type(chute_decoder *decoder, struct chute_decoder_column *column) {
    chute_error err;
    char name[CHUTE_QUOTE_MAX];
    const uint8_t *bytes;
    size_t len;
    int code = chute_decode_bytes(decoder, &bytes, &len);
    if (code) return code;
    column->type = chute_type_parse((const char *)bytes, len, &err);
    if (column->type) return check_type(decoder, column);
    chute_quote(column->name, column->name_len, name, sizeof name);
    return chute_decode_fail(decoder, "column %s: %.400s", name, err.message);
}

static int read_columns(chute_decoder *decoder, struct chute_decoder_column *columns,
                        uint32_t count) {
    int code = 0;
    for (uint32_t i = 0; i < count && code == 0; i++) code = read_name(decoder, &columns[i]);
    for (uint32_t i = 0; i < count && code == 0; i++) code = read_type(decoder, &columns[i]);
    return code;
}

/* Each column has at least a byte for its name and one for its type. */
static int read_header(chute_decoder *decoder) {
    uint64_t count = 0;
    int code = chute_decode_leb(decoder, &count);
    if (code) return code;
    if (count > COLUMNS_MAX)
        return chute_decode_fail(decoder, "%llu columns", (unsigned long long)count);
    if (count > chute_decode_left(decoder)) return CHUTE_DECODE_MORE;
    struct chute_decoder_column *columns = calloc(count ? count : 1, sizeof *columns);
    if (!columns) return chute_decode_no_memory(decoder);
    code = read_columns(decoder, columns, (uint32_t)count);
    if (code == 0 && !(decoder->cells = chute_cells_new((uint32_t)count)))
        code = chute_decode_no_memory(decoder);
    if (code) {
        free_columns(columns, (uint32_t)count);
        return code;
    }
    decoder->columns = columns;
    decoder->count = (uint32_t)count;
    decoder->has_header = true;
    return 0;
}

/* ---- attempts ----------------------------------------------------------------------------- */

static int finish(chute_decoder *decoder, int code, chute_error *err) {
    decoder->failed = code;
    if (err) *err = decoder->error;
    return code;
}

static bool is_worth_trying(const chute_decoder *decoder) {
    size_t there = decoder->len - decoder->start;
    if (decoder->ended || decoder->tried < PATIENCE_BYTES) return true;
    return there - decoder->tried >= decoder->tried / 2;
}

/* Too few bytes: 0, or an error where no more will come. */
static int wait_for_more(chute_decoder *decoder, chute_error *err) {
    decoder->tried = decoder->len - decoder->start;
    if (decoder->tried > CHUTE_ROW_BYTES_MAX)
        return finish(decoder, chute_decode_fail(decoder, "more than 1 GiB"), err);
    if (!decoder->ended) return 0;
    return finish(decoder, chute_decode_fail(decoder, "it is cut short"), err);
}

static void begin(chute_decoder *decoder) {
    decoder->at = decoder->bytes + decoder->start;
    decoder->end = decoder->bytes + decoder->len;
    decoder->depth = decoder->empties = 0;
}

static void commit(chute_decoder *decoder) {
    decoder->start = (size_t)(decoder->at - decoder->bytes);
    decoder->tried = 0;
}

int chute_decoder_head(chute_decoder *decoder, chute_error *err) {
    if (decoder->failed) return finish(decoder, decoder->failed, err);
    if (decoder->has_header) return 1;
    if (decoder->len == 0 && decoder->ended) return 0;
    if (decoder->len == 0 || !is_worth_trying(decoder)) return 0;
    begin(decoder);
    int code = read_header(decoder);
    if (code == CHUTE_DECODE_MORE) return wait_for_more(decoder, err);
    if (code < 0) return finish(decoder, code, err);
    commit(decoder);
    return 1;
}

static int read_row(chute_decoder *decoder) {
    int code = 0;
    decoder->cells->used = decoder->count;
    chute_decode_reset_texts(decoder);
    chute_decode_begin_types(decoder);
    for (uint32_t i = 0; i < decoder->count && code == 0; i++) {
        decoder->column = i;
        code = chute_decode(decoder, decoder->columns[i].type, i);
    }
    return code;
}

int chute_decoder_next(chute_decoder *decoder, const chute_cells **cells, chute_error *err) {
    int code = chute_decoder_head(decoder, err);
    if (code != 1) return code;
    if (decoder->len == decoder->start || decoder->count == 0) return 0;
    if (!is_worth_trying(decoder)) return 0;
    begin(decoder);
    decoder->row++;
    code = read_row(decoder);
    if (code == CHUTE_DECODE_MORE) {
        code = wait_for_more(decoder, err);
        decoder->row--;
        return code;
    }
    if (code == 0 && decoder->at == decoder->bytes + decoder->start)
        code = chute_decode_fail(decoder, "bytes behind rows that take none");
    if (code < 0) return finish(decoder, code, err);
    commit(decoder);
    *cells = decoder->cells;
    return 1;
}

uint32_t chute_decoder_count(const chute_decoder *decoder) {
    return decoder->count;
}

const char *chute_decoder_name(const chute_decoder *decoder, uint32_t column, size_t *len) {
    *len = decoder->columns[column].name_len;
    return decoder->columns[column].name;
}

const chute_type *chute_decoder_type(const chute_decoder *decoder, uint32_t column) {
    return decoder->columns[column].type;
}

/* ---- zones -------------------------------------------------------------------------------- */

const chute_zone *chute_decode_zone(chute_decoder *decoder, const char *name) {
    for (uint32_t i = 0; i < decoder->zone_count; i++)
        if (strcmp(decoder->zones[i].name, name) == 0) return decoder->zones[i].zone;
    if (decoder->zone_count == ZONES_MAX) forget_zones(decoder);
    if (!decoder->zones) decoder->zones = calloc(ZONES_MAX, sizeof *decoder->zones);
    char *copy = decoder->zones ? strdup(name) : NULL;
    if (!copy) return NULL;
    chute_zone *zone = chute_zone_open(name, strlen(name), NULL);
    decoder->zones[decoder->zone_count++] = (struct chute_zone_entry){copy, zone};
    return zone;
}
