/* Decoding of numbers, strings, days and instants. What Lua has no exact value for becomes text. */
#include "date.h"
#include "decimal.h"
#include "decoder.h"
#include "number.h"

#include <arpa/inet.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- numbers ------------------------------------------------------------------------------ */

int chute_decode_nothing(chute_decoder *decoder, const chute_type *type, uint32_t cell) {
    (void)type;
    chute_decode_cell(decoder, cell)->kind = CHUTE_CELL_NULL;
    return 0;
}

static bool is_signed(const chute_type *type) {
    return type->kind != CHUTE_TYPE_UINT8 && type->kind != CHUTE_TYPE_UINT16 &&
           type->kind != CHUTE_TYPE_UINT32 && type->kind != CHUTE_TYPE_UINT64 &&
           type->kind != CHUTE_TYPE_UINT128 && type->kind != CHUTE_TYPE_UINT256;
}

static int64_t read_signed(const uint8_t *bytes, uint32_t width) {
    uint64_t value = 0;
    memcpy(&value, bytes, width);
    unsigned shift = 64 - 8 * width;
    return (int64_t)(value << shift) >> shift;
}

static uint64_t read_unsigned(const uint8_t *bytes, uint32_t width) {
    uint64_t value = 0;
    memcpy(&value, bytes, width);
    return value;
}

static int decode_int64(chute_cell *cell, const chute_type *type, const uint8_t *bytes) {
    cell->kind = is_signed(type) ? CHUTE_CELL_INT64 : CHUTE_CELL_UINT64;
    memcpy(&cell->u64, bytes, sizeof cell->u64);
    return 0;
}

int chute_decode_integer(chute_decoder *decoder, const chute_type *type, uint32_t index) {
    const uint8_t *bytes = chute_decode_take(decoder, type->width);
    if (!bytes) return CHUTE_DECODE_MORE;
    chute_cell *cell = chute_decode_cell(decoder, index);
    if (type->width == 8) return decode_int64(cell, type, bytes);
    cell->kind = CHUTE_CELL_NUMBER;
    cell->num = is_signed(type) ? (double)read_signed(bytes, type->width)
                                : (double)read_unsigned(bytes, type->width);
    return 0;
}

static int decode_scaled(chute_decoder *decoder, const chute_type *type, uint32_t scale,
                         uint32_t index) {
    const uint8_t *bytes = chute_decode_take(decoder, type->width);
    if (!bytes) return CHUTE_DECODE_MORE;
    bool negative = is_signed(type) && bytes[type->width - 1] >> 7;
    chute_int256 value;
    memset(&value, negative ? 0xFF : 0, sizeof value);
    memcpy(&value, bytes, type->width);
    char *text = chute_decode_room(decoder, CHUTE_DECIMAL_TEXT);
    if (!text) return chute_decode_no_memory(decoder);
    return chute_decode_text(decoder, index, text,
                             chute_format_decimal(&value, is_signed(type), scale, text));
}

int chute_decode_wide_integer(chute_decoder *decoder, const chute_type *type, uint32_t index) {
    return decode_scaled(decoder, type, 0, index);
}

int chute_decode_decimal(chute_decoder *decoder, const chute_type *type, uint32_t index) {
    return decode_scaled(decoder, type, type->scale, index);
}

static double read_float(const uint8_t *bytes, uint32_t width) {
    double wide;
    float narrow;
    uint32_t bits = 0;
    if (width == 8) {
        memcpy(&wide, bytes, sizeof wide);
        return wide;
    }
    /* BFloat16 is the upper half of a float. */
    memcpy((uint8_t *)&bits + (sizeof bits - width), bytes, width);
    memcpy(&narrow, &bits, sizeof narrow);
    return narrow;
}

/* Of the many NaNs LuaJIT's FFI takes only some for numbers, the others for objects. */
int chute_decode_float(chute_decoder *decoder, const chute_type *type, uint32_t index) {
    const uint8_t *bytes = chute_decode_take(decoder, type->width);
    if (!bytes) return CHUTE_DECODE_MORE;
    chute_cell *cell = chute_decode_cell(decoder, index);
    cell->kind = CHUTE_CELL_NUMBER;
    double value = read_float(bytes, type->width);
    cell->num = isnan(value) ? (double)NAN : value;
    return 0;
}

int chute_decode_bool(chute_decoder *decoder, const chute_type *type, uint32_t index) {
    (void)type;
    const uint8_t *bytes = chute_decode_take(decoder, 1);
    if (!bytes) return CHUTE_DECODE_MORE;
    chute_cell *cell = chute_decode_cell(decoder, index);
    cell->kind = CHUTE_CELL_BOOL;
    cell->u64 = *bytes != 0;
    return 0;
}

/* ---- strings ------------------------------------------------------------------------------ */

static void set_string(chute_cell *cell, const void *bytes, size_t len) {
    cell->kind = CHUTE_CELL_STRING;
    cell->ptr = bytes;
    cell->len = (uint32_t)len;
}

int chute_decode_string(chute_decoder *decoder, const chute_type *type, uint32_t index) {
    (void)type;
    const uint8_t *bytes;
    size_t len;
    int code = chute_decode_bytes(decoder, &bytes, &len);
    if (code == 0) set_string(chute_decode_cell(decoder, index), bytes, len);
    return code;
}

int chute_decode_fixed_string(chute_decoder *decoder, const chute_type *type, uint32_t index) {
    const uint8_t *bytes = chute_decode_take(decoder, type->width);
    if (!bytes) return CHUTE_DECODE_MORE;
    set_string(chute_decode_cell(decoder, index), bytes, type->width);
    return 0;
}

int chute_decode_uuid(chute_decoder *decoder, const chute_type *type, uint32_t index) {
    enum { HYPHENATED = 36 };
    static const char digits[] = "0123456789abcdef";
    (void)type;
    const uint8_t *bytes = chute_decode_take(decoder, 16);
    if (!bytes) return CHUTE_DECODE_MORE;
    char *text = chute_decode_room(decoder, HYPHENATED), *at = text;
    if (!text) return chute_decode_no_memory(decoder);
    for (unsigned i = 0; i < 16; i++) {
        uint8_t byte = bytes[i < 8 ? 7 - i : 23 - i];
        if (i == 4 || i == 6 || i == 8 || i == 10) *at++ = '-';
        *at++ = digits[byte >> 4];
        *at++ = digits[byte & 15];
    }
    return chute_decode_text(decoder, index, text, HYPHENATED);
}

static void write_ipv4(const uint8_t *b, char *text) {
    snprintf(text, INET_ADDRSTRLEN, "%u.%u.%u.%u", b[3], b[2], b[1], b[0]);
}

int chute_decode_ip(chute_decoder *decoder, const chute_type *type, uint32_t index) {
    const uint8_t *bytes = chute_decode_take(decoder, type->width);
    if (!bytes) return CHUTE_DECODE_MORE;
    char *text = chute_decode_room(decoder, INET6_ADDRSTRLEN);
    if (!text) return chute_decode_no_memory(decoder);
    if (type->kind == CHUTE_TYPE_IPV4)
        write_ipv4(bytes, text);
    else if (!inet_ntop(AF_INET6, bytes, text, INET6_ADDRSTRLEN))
        return chute_decode_no_memory(decoder);
    return chute_decode_text(decoder, index, text, strlen(text));
}

static const struct chute_enum_value *find_word(const chute_type *type, int64_t number) {
    size_t low = 0, high = type->enum_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (type->enum_values[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < type->enum_count && type->enum_values[low].number == number;
    return found ? &type->enum_values[low] : NULL;
}

/* A number that the type has no word for, which a server takes in binary, stays a number. A word
 * may live in a type that is gone before the row is: see chute_decode_forget_tagged. */
int chute_decode_enum(chute_decoder *decoder, const chute_type *type, uint32_t index) {
    const uint8_t *bytes = chute_decode_take(decoder, type->width);
    if (!bytes) return CHUTE_DECODE_MORE;
    chute_cell *cell = chute_decode_cell(decoder, index);
    int64_t number = read_signed(bytes, type->width);
    const struct chute_enum_value *word = find_word(type, number);
    if (word) {
        set_string(cell, word->name, word->name_len);
    } else {
        cell->kind = CHUTE_CELL_NUMBER;
        cell->num = (double)number;
    }
    return 0;
}

/* ---- days, instants, durations ------------------------------------------------------------ */

int chute_decode_date(chute_decoder *decoder, const chute_type *type, uint32_t index) {
    const uint8_t *bytes = chute_decode_take(decoder, type->width);
    if (!bytes) return CHUTE_DECODE_MORE;
    char *text = chute_decode_room(decoder, CHUTE_DATE_TEXT);
    if (!text) return chute_decode_no_memory(decoder);
    int64_t days = type->width == 2 ? (int64_t)read_unsigned(bytes, 2) : read_signed(bytes, 4);
    return chute_decode_text(decoder, index, text, chute_format_date(days, text));
}

/* The text tells the instant by itself but where the type says UTC, which is then what it is read
 * in: a type without a zone may be read in another by whoever writes it again. */
int chute_decode_datetime(chute_decoder *decoder, const chute_type *type, uint32_t index) {
    const uint8_t *bytes = chute_decode_take(decoder, type->width);
    if (!bytes) return CHUTE_DECODE_MORE;
    char *text = chute_decode_room(decoder, CHUTE_DATE_TEXT);
    if (!text) return chute_decode_no_memory(decoder);
    bool narrow = type->kind == CHUTE_TYPE_DATETIME;
    int64_t ticks = narrow ? (int64_t)read_unsigned(bytes, 4) : read_signed(bytes, 8);
    const char *zone = type->zone ? type->zone : decoder->zone_name;
    struct chute_date_style style = {
        .zone = strcmp(zone, "UTC") == 0 ? NULL : chute_decode_zone(decoder, zone),
        .offset = !type->zone || strcmp(type->zone, "UTC") != 0,
    };
    uint32_t scale = narrow ? 0 : type->precision;
    return chute_decode_text(decoder, index, text,
                             chute_format_datetime(ticks, scale, style, text));
}

int chute_decode_time(chute_decoder *decoder, const chute_type *type, uint32_t index) {
    const uint8_t *bytes = chute_decode_take(decoder, type->width);
    if (!bytes) return CHUTE_DECODE_MORE;
    char *text = chute_decode_room(decoder, CHUTE_DATE_TEXT);
    if (!text) return chute_decode_no_memory(decoder);
    uint32_t scale = type->kind == CHUTE_TYPE_TIME ? 0 : type->precision;
    return chute_decode_text(decoder, index, text,
                             chute_format_time(read_signed(bytes, type->width), scale, text));
}
