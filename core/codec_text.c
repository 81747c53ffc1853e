/* Codecs of String, FixedString, UUID, IPv4, IPv6 and Enum. */
#include "codec.h"
#include "error.h"
#include "ip.h"
#include "number.h"
#include "uuid.h"
#include "wire.h"

#include <stdlib.h>
#include <string.h>

/* Room for a number written as text. */
enum { NUMBER_TEXT = 32 };
_Static_assert((int)NUMBER_TEXT >= (int)CHUTE_SHORT, "a string's bound holds what is short");

/* The widest FixedString that is in its codec's bound; others claim their bytes, as long text does,
 * lest every cell of a row count for as many. */
enum { FIXED_BOUND = 64 };

/* The text of a number cell, or 0 where the cell holds none. */
static size_t number_text(const chute_cell *cell, char out[NUMBER_TEXT]) {
    switch (cell->kind) {
    case CHUTE_CELL_NUMBER: return chute_format_double(cell->num, out);
    case CHUTE_CELL_INT64: return chute_format_i64(cell->i64, out);
    case CHUTE_CELL_UINT64: return chute_format_u64(cell->u64, out);
    default: return 0;
    }
}

/* ---- String -------------------------------------------------------------------------------- */

static uint8_t *put_string(const chute_codec *codec, chute_row *row, const chute_cell *cell,
                           uint8_t *out) {
    (void)codec;
    char text[NUMBER_TEXT];
    if (cell->kind == CHUTE_CELL_STRING) return chute_row_put_text(row, cell, out);
    size_t len = number_text(cell, text);
    if (len == 0) return chute_row_refuse(row, cell, " is not a string");
    return chute_put_string(out, text, len);
}

int chute_bind_string(chute_codec *codec, const struct chute_codec_options *options,
                      chute_error *err) {
    (void)options, (void)err;
    codec->put = put_string;
    codec->name = "string";
    codec->fuse = CHUTE_FUSE_STRING;
    codec->bound = CHUTE_LEB_MAX + NUMBER_TEXT;
    return CHUTE_OK;
}

static uint8_t *put_fixed_string(const chute_codec *codec, chute_row *row, const chute_cell *cell,
                                 uint8_t *out) {
    char text[NUMBER_TEXT];
    const char *from = cell->ptr;
    size_t len = cell->len;
    if (cell->kind != CHUTE_CELL_STRING) {
        len = number_text(cell, text);
        from = text;
        if (len == 0) return chute_row_refuse(row, cell, " is not a string");
    }
    if (len > codec->width)
        return chute_row_refuse(row, cell, " is longer (%zu bytes) than %u bytes", len,
                                codec->width);
    if (codec->bound == 0 && !chute_row_claim(row, codec->width)) return NULL;
    memcpy(out, from, len);
    memset(out + len, 0, codec->width - len);
    return out + codec->width;
}

int chute_bind_fixed_string(chute_codec *codec, const struct chute_codec_options *options,
                            chute_error *err) {
    (void)options, (void)err;
    codec->put = put_fixed_string;
    codec->name = "fixed string";
    codec->fuse = CHUTE_FUSE_FIXED;
    codec->width = codec->type->width;
    codec->bound = codec->width <= FIXED_BOUND ? codec->width : 0;
    return CHUTE_OK;
}

/* ---- UUID, IPv4, IPv6 ---------------------------------------------------------------------- */

static uint8_t *put_uuid(const chute_codec *codec, chute_row *row, const chute_cell *cell,
                         uint8_t *out) {
    (void)codec;
    if (cell->kind != CHUTE_CELL_STRING || chute_parse_uuid(cell->ptr, cell->len, out) != CHUTE_OK)
        return chute_row_refuse(row, cell, " is not a UUID");
    return out + 16;
}

int chute_bind_uuid(chute_codec *codec, const struct chute_codec_options *options,
                    chute_error *err) {
    (void)options, (void)err;
    codec->put = put_uuid;
    codec->name = "uuid";
    codec->width = 16;
    codec->bound = 16;
    return CHUTE_OK;
}

/* Four bytes are an address as sockets have it: no text of one is so short. */
static bool read_ipv4(const chute_cell *cell, uint32_t *out) {
    if (cell->kind != CHUTE_CELL_STRING) return false;
    if (cell->len != 4) return chute_parse_ipv4(cell->ptr, cell->len, out) == CHUTE_OK;
    const uint8_t *b = (const uint8_t *)cell->ptr;
    *out = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
    return true;
}

static uint8_t *put_ipv4(const chute_codec *codec, chute_row *row, const chute_cell *cell,
                         uint8_t *out) {
    (void)codec;
    uint32_t address;
    if (!read_ipv4(cell, &address)) return chute_row_refuse(row, cell, " is not an IPv4 address");
    memcpy(out, &address, sizeof address);
    return out + sizeof address;
}

static void map_ipv4(const char *raw, uint8_t out[16]) {
    memset(out, 0, 10);
    memset(out + 10, 0xFF, 2);
    memcpy(out + 12, raw, 4);
}

/* Sixteen bytes may be text too ("2001:db8::1:2345"): text it is where it reads as an address. */
static uint8_t *put_ipv6(const chute_codec *codec, chute_row *row, const chute_cell *cell,
                         uint8_t *out) {
    (void)codec;
    if (cell->kind != CHUTE_CELL_STRING)
        return chute_row_refuse(row, cell, " is not an IPv6 address");
    if (cell->len == 4)
        map_ipv4(cell->ptr, out);
    else if (chute_parse_ipv6(cell->ptr, cell->len, out) == CHUTE_OK)
        return out + 16;
    else if (cell->len == 16)
        memcpy(out, cell->ptr, 16);
    else
        return chute_row_refuse(row, cell, " is not an IPv6 address");
    return out + 16;
}

int chute_bind_ip(chute_codec *codec, const struct chute_codec_options *options, chute_error *err) {
    (void)options, (void)err;
    bool four = codec->type->kind == CHUTE_TYPE_IPV4;
    codec->put = four ? put_ipv4 : put_ipv6;
    codec->name = four ? "ipv4" : "ipv6";
    codec->width = four ? 4 : 16;
    codec->bound = codec->width;
    return CHUTE_OK;
}

/* ---- Enum ---------------------------------------------------------------------------------- */

static int compare_names(const void *left, const void *right) {
    const struct chute_enum_value *a = left, *b = right;
    if (a->name_len != b->name_len) return a->name_len < b->name_len ? -1 : 1;
    return memcmp(a->name, b->name, a->name_len);
}

static const struct chute_enum_value *find_name(const chute_codec *codec, const chute_cell *cell) {
    struct chute_enum_value wanted = {.name = cell->ptr, .name_len = cell->len};
    return bsearch(&wanted, codec->enum_names, codec->type->enum_count, sizeof wanted,
                   compare_names);
}

static const struct chute_enum_value *find_number(const chute_codec *codec, double number) {
    for (size_t i = 0; i < codec->type->enum_count; i++)
        if (codec->enum_names[i].number == number) return &codec->enum_names[i];
    return NULL;
}

static const struct chute_enum_value *find_value(const chute_codec *codec, const chute_cell *cell) {
    switch (cell->kind) {
    case CHUTE_CELL_STRING: return find_name(codec, cell);
    case CHUTE_CELL_NUMBER: return find_number(codec, cell->num);
    case CHUTE_CELL_INT64: return find_number(codec, (double)cell->i64);
    case CHUTE_CELL_UINT64: return find_number(codec, (double)cell->u64);
    default: return NULL;
    }
}

static uint8_t *put_enum(const chute_codec *codec, chute_row *row, const chute_cell *cell,
                         uint8_t *out) {
    const struct chute_enum_value *value = find_value(codec, cell);
    if (!value) return chute_row_refuse(row, cell, " is no value of the enum");
    memcpy(out, &value->number, codec->width);
    return out + codec->width;
}

int chute_bind_enum(chute_codec *codec, const struct chute_codec_options *options,
                    chute_error *err) {
    (void)options;
    size_t count = codec->type->enum_count;
    codec->enum_names = calloc(count ? count : 1, sizeof *codec->enum_names);
    if (!codec->enum_names) return chute_fail(err, CHUTE_E_NOMEM, "out of memory");
    memcpy(codec->enum_names, codec->type->enum_values, count * sizeof *codec->enum_names);
    qsort(codec->enum_names, count, sizeof *codec->enum_names, compare_names);
    codec->put = put_enum;
    codec->name = "enum";
    codec->width = codec->type->width;
    codec->bound = codec->width;
    return CHUTE_OK;
}
