/* Codec of Decimal: value × 10^scale, sign-extended to 4, 8, 16 or 32 bytes. */
#include "codec.h"
#include "decimal.h"
#include "number.h"

#include <string.h>

/* The digits of a number cell as text: what reads back the same is what was meant. */
static size_t number_text(const chute_cell *cell, char *out) {
    switch (cell->kind) {
    case CHUTE_CELL_INT64: return chute_format_i64(cell->i64, out);
    case CHUTE_CELL_UINT64: return chute_format_u64(cell->u64, out);
    default: return 0;
    }
}

static int read_decimal(const chute_codec *codec, const chute_cell *cell, chute_int256 *value) {
    uint32_t precision = codec->type->precision, scale = codec->type->scale;
    char text[32];
    switch (cell->kind) {
    case CHUTE_CELL_STRING:
        return chute_parse_decimal(cell->ptr, cell->len, precision, scale, value);
    case CHUTE_CELL_NUMBER: return chute_decimal_from_double(cell->num, precision, scale, value);
    case CHUTE_CELL_INT64:
    case CHUTE_CELL_UINT64:
        return chute_parse_decimal(text, number_text(cell, text), precision, scale, value);
    default: return CHUTE_DECIMAL_SYNTAX;
    }
}

static uint8_t *put_decimal(const chute_codec *codec, chute_row *row, const chute_cell *cell,
                            uint8_t *out) {
    chute_int256 value;
    switch (read_decimal(codec, cell, &value)) {
    case CHUTE_OK: break;
    case CHUTE_DECIMAL_INEXACT:
        return chute_row_refuse(row, cell, " has digits past the scale of Decimal(%u, %u)",
                                codec->type->precision, codec->type->scale);
    case CHUTE_DECIMAL_RANGE:
        return chute_row_refuse(row, cell, " is out of range for Decimal(%u, %u)",
                                codec->type->precision, codec->type->scale);
    default: return chute_row_refuse(row, cell, " is not a decimal number");
    }
    memcpy(out, value.limb, codec->width);
    return out + codec->width;
}

int chute_bind_decimal(chute_codec *codec, const struct chute_codec_options *options,
                       chute_error *err) {
    (void)options, (void)err;
    codec->put = put_decimal;
    codec->name = "decimal";
    codec->width = codec->type->width;
    codec->bound = codec->width;
    return CHUTE_OK;
}
