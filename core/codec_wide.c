/* Codecs of integers of 128 and 256 bits. */
#include "codec.h"
#include "decimal.h"

#include <math.h>
#include <string.h>

static bool is_signed(const chute_codec *codec) {
    return codec->type->kind == CHUTE_TYPE_INT128 || codec->type->kind == CHUTE_TYPE_INT256;
}

/* These return CHUTE_OK, or a CHUTE_DECIMAL_… code; INEXACT: past what a double holds exactly. */
static int from_i64(const chute_codec *codec, int64_t number, chute_int256 *value) {
    if (number < 0 && !is_signed(codec)) return CHUTE_DECIMAL_RANGE;
    value->limb[0] = (uint64_t)number;
    for (int i = 1; i < 4; i++) value->limb[i] = number < 0 ? UINT64_MAX : 0;
    return CHUTE_OK;
}

static int from_double(const chute_codec *codec, double number, chute_int256 *value) {
    const double exact = 9007199254740992.0;
    if (!isfinite(number) || number != trunc(number)) return CHUTE_DECIMAL_SYNTAX;
    if (fabs(number) > exact) return CHUTE_DECIMAL_INEXACT;
    return from_i64(codec, (int64_t)number, value);
}

static int read_wide(const chute_codec *codec, const chute_cell *cell, chute_int256 *value) {
    switch (cell->kind) {
    case CHUTE_CELL_NUMBER: return from_double(codec, cell->num, value);
    case CHUTE_CELL_INT64: return from_i64(codec, cell->i64, value);
    case CHUTE_CELL_UINT64: *value = (chute_int256){{cell->u64}}; return CHUTE_OK;
    case CHUTE_CELL_STRING:
        return chute_parse_integer(cell->ptr, cell->len, codec->width * 8, is_signed(codec), value);
    default: return CHUTE_DECIMAL_SYNTAX;
    }
}

static uint8_t *put_wide(const chute_codec *codec, chute_row *row, const chute_cell *cell,
                         uint8_t *out) {
    chute_int256 value;
    switch (read_wide(codec, cell, &value)) {
    case CHUTE_OK: break;
    case CHUTE_DECIMAL_RANGE:
        return chute_row_refuse(row, cell, " is out of range for %s", codec->type->name);
    case CHUTE_DECIMAL_INEXACT:
        return chute_row_refuse(row, cell,
                                " is past 2^53, where numbers lose digits: give an int64 or "
                                "uint64 cdata, or text");
    default: return chute_row_refuse(row, cell, " is not an integer");
    }
    memcpy(out, value.limb, codec->width);
    return out + codec->width;
}

int chute_bind_wide(chute_codec *codec, const struct chute_codec_options *options,
                    chute_error *err) {
    (void)options, (void)err;
    codec->put = put_wide;
    codec->name = is_signed(codec) ? "wide signed" : "wide unsigned";
    codec->width = codec->type->width;
    codec->bound = codec->width;
    return CHUTE_OK;
}
