/* Codecs of integers, floats and Bool. */
#include "codec.h"
#include "number.h"
#include "wire.h"

#include <math.h>
#include <string.h>

/* Doubles hold every integer up to here, and not the next. */
static const double EXACT = 9007199254740992.0;

/* ---- integers ------------------------------------------------------------------------------ */

static uint8_t *out_of_range(const chute_codec *codec, chute_row *row, const chute_cell *cell) {
    return chute_row_refuse(row, cell, " is out of range (%lld to %llu)", (long long)codec->min,
                            (unsigned long long)codec->max);
}

static uint8_t *put_signed(const chute_codec *codec, chute_row *row, const chute_cell *cell,
                           int64_t value, uint8_t *out) {
    if (value < codec->min || (value > 0 && (uint64_t)value > codec->max))
        return out_of_range(codec, row, cell);
    return chute_put_int(out, (uint64_t)value, codec->width);
}

static uint8_t *put_unsigned(const chute_codec *codec, chute_row *row, const chute_cell *cell,
                             uint64_t value, uint8_t *out) {
    if (value > codec->max) return out_of_range(codec, row, cell);
    return chute_put_int(out, value, codec->width);
}

static uint8_t *put_number(const chute_codec *codec, chute_row *row, const chute_cell *cell,
                           uint8_t *out) {
    double value = cell->num;
    if (!(fabs(value) <= EXACT)) {
        if (value - value != 0) return chute_row_refuse(row, cell, " is not an integer");
        return chute_row_refuse(row, cell,
                                " is past 2^53, where numbers lose digits: give an int64 or "
                                "uint64 cdata, or text");
    }
    int64_t integer = (int64_t)value;
    if ((double)integer != value) return chute_row_refuse(row, cell, " is not an integer");
    return put_signed(codec, row, cell, integer, out);
}

static uint8_t *put_text(const chute_codec *codec, chute_row *row, const chute_cell *cell,
                         uint8_t *out) {
    int64_t value;
    uint64_t large;
    int rc = chute_parse_i64(cell->ptr, cell->len, &value);
    if (rc == CHUTE_OK) return put_signed(codec, row, cell, value, out);
    if (chute_parse_u64(cell->ptr, cell->len, &large) == CHUTE_OK)
        return put_unsigned(codec, row, cell, large, out);
    if (rc == CHUTE_NUMBER_RANGE) return out_of_range(codec, row, cell);
    return chute_row_refuse(row, cell, " is not an integer");
}

static uint8_t *put_integer(const chute_codec *codec, chute_row *row, const chute_cell *cell,
                            uint8_t *out) {
    switch (cell->kind) {
    case CHUTE_CELL_NUMBER: return put_number(codec, row, cell, out);
    case CHUTE_CELL_INT64: return put_signed(codec, row, cell, cell->i64, out);
    case CHUTE_CELL_UINT64: return put_unsigned(codec, row, cell, cell->u64, out);
    case CHUTE_CELL_STRING: return put_text(codec, row, cell, out);
    default: return chute_row_refuse(row, cell, " is not an integer");
    }
}

static bool is_signed(uint32_t kind) {
    return (kind >= CHUTE_TYPE_INT8 && kind <= CHUTE_TYPE_INT64) || kind == CHUTE_TYPE_INTERVAL;
}

int chute_bind_integer(chute_codec *codec, const struct chute_codec_options *options,
                       chute_error *err) {
    (void)options, (void)err;
    uint32_t bits = codec->type->width * 8;
    bool sign = is_signed(codec->type->kind);
    codec->put = put_integer;
    codec->name = sign ? "signed" : "unsigned";
    codec->fuse = CHUTE_FUSE_INTEGER;
    codec->width = codec->type->width;
    codec->bound = 8;
    codec->max = UINT64_MAX >> (64 - bits + (sign ? 1 : 0));
    codec->min = sign ? (int64_t)(UINT64_MAX << (bits - 1)) : 0;
    codec->high = codec->max > (uint64_t)EXACT ? EXACT : (double)codec->max;
    codec->low = (double)codec->min < -EXACT ? -EXACT : (double)codec->min;
    return CHUTE_OK;
}

/* ---- floats -------------------------------------------------------------------------------- */

/* LuaJIT's NaN has its sign set and ClickHouse's has not: to GROUP BY they would be two values. */
static bool read_double(const chute_cell *cell, double *out) {
    switch (cell->kind) {
    case CHUTE_CELL_NUMBER: *out = isnan(cell->num) ? NAN : cell->num; return true;
    case CHUTE_CELL_INT64: *out = (double)cell->i64; return true;
    case CHUTE_CELL_UINT64: *out = (double)cell->u64; return true;
    case CHUTE_CELL_STRING: return chute_parse_double(cell->ptr, cell->len, out) == CHUTE_OK;
    default: return false;
    }
}

static uint8_t *put_float64(const chute_codec *codec, chute_row *row, const chute_cell *cell,
                            uint8_t *out) {
    (void)codec;
    double value;
    if (!read_double(cell, &value)) return chute_row_refuse(row, cell, " is not a number");
    memcpy(out, &value, sizeof value);
    return out + sizeof value;
}

/* A finite double past the range of Float32 is refused, not made infinite. */
static bool read_float(const chute_codec *codec, chute_row *row, const chute_cell *cell,
                       float *out) {
    double value;
    if (!read_double(cell, &value)) {
        chute_row_refuse(row, cell, " is not a number");
        return false;
    }
    *out = (float)value;
    if (!isinf(*out) || isinf(value)) return true;
    chute_row_refuse(row, cell, " is out of range for %s", codec->type->name);
    return false;
}

static uint8_t *put_float32(const chute_codec *codec, chute_row *row, const chute_cell *cell,
                            uint8_t *out) {
    float value;
    if (!read_float(codec, row, cell, &value)) return NULL;
    memcpy(out, &value, sizeof value);
    return out + sizeof value;
}

/* The upper half of the Float32, as ClickHouse cuts it: toward zero. */
static uint8_t *put_bfloat16(const chute_codec *codec, chute_row *row, const chute_cell *cell,
                             uint8_t *out) {
    float value;
    uint32_t bits;
    if (!read_float(codec, row, cell, &value)) return NULL;
    memcpy(&bits, &value, sizeof bits);
    return chute_put_int(out, bits >> 16, 2);
}

int chute_bind_float(chute_codec *codec, const struct chute_codec_options *options,
                     chute_error *err) {
    (void)options, (void)err;
    switch (codec->type->kind) {
    case CHUTE_TYPE_FLOAT64: codec->put = put_float64, codec->name = "float64"; break;
    case CHUTE_TYPE_FLOAT32: codec->put = put_float32, codec->name = "float32"; break;
    default: codec->put = put_bfloat16, codec->name = "bfloat16"; break;
    }
    if (codec->put == put_float64) codec->fuse = CHUTE_FUSE_FLOAT64;
    codec->width = codec->type->width;
    codec->bound = 8;
    return CHUTE_OK;
}

/* ---- Bool ---------------------------------------------------------------------------------- */

static int text_bool(const chute_cell *cell) {
    if (cell->len == 1 && (cell->ptr[0] == '0' || cell->ptr[0] == '1')) return cell->ptr[0] - '0';
    if (cell->len == 4 && memcmp(cell->ptr, "true", 4) == 0) return 1;
    if (cell->len == 5 && memcmp(cell->ptr, "false", 5) == 0) return 0;
    return -1;
}

static int cell_bool(const chute_cell *cell) {
    switch (cell->kind) {
    case CHUTE_CELL_BOOL: return cell->u64 != 0;
    case CHUTE_CELL_NUMBER: return cell->num == 0 ? 0 : cell->num == 1 ? 1 : -1;
    case CHUTE_CELL_INT64:
    case CHUTE_CELL_UINT64: return cell->u64 <= 1 ? (int)cell->u64 : -1;
    case CHUTE_CELL_STRING: return text_bool(cell);
    default: return -1;
    }
}

static uint8_t *put_bool(const chute_codec *codec, chute_row *row, const chute_cell *cell,
                         uint8_t *out) {
    (void)codec;
    int value = cell_bool(cell);
    if (value < 0) return chute_row_refuse(row, cell, " is not a boolean, 0 or 1");
    *out = (uint8_t)value;
    return out + 1;
}

int chute_bind_bool(chute_codec *codec, const struct chute_codec_options *options,
                    chute_error *err) {
    (void)options, (void)err;
    codec->put = put_bool;
    codec->name = "bool";
    codec->width = 1;
    codec->bound = 1;
    return CHUTE_OK;
}
