/* Numbers as text: what is read is written in a form that reads as the same. The first two bytes
 * choose precision and scale. */
#include "fuzz.h"

#include "decimal.h"
#include "number.h"

#include <math.h>

static void check_decimal(const char *s, size_t n, uint32_t precision, uint32_t scale) {
    char text[CHUTE_DECIMAL_TEXT];
    chute_int256 value, again;
    if (chute_parse_decimal(s, n, precision, scale, &value)) return;
    size_t len = chute_format_decimal(&value, true, scale, text);
    CHUTE_MUST(len <= sizeof text);
    CHUTE_MUST(chute_parse_decimal(text, len, precision, scale, &again) == 0);
    CHUTE_MUST(memcmp(&value, &again, sizeof value) == 0);
}

static void check_integer(const char *s, size_t n, uint32_t bits, bool is_signed) {
    char text[CHUTE_DECIMAL_TEXT];
    chute_int256 value, again;
    if (chute_parse_integer(s, n, bits, is_signed, &value)) return;
    size_t len = chute_format_decimal(&value, is_signed, 0, text);
    CHUTE_MUST(chute_parse_integer(text, len, bits, is_signed, &again) == 0);
    CHUTE_MUST(memcmp(&value, &again, sizeof value) == 0);
}

static void check_double(const char *s, size_t n, uint32_t precision, uint32_t scale) {
    char text[CHUTE_NUMBER_TEXT];
    chute_int256 decimal;
    double value, again;
    if (chute_parse_double(s, n, &value)) return;
    size_t len = chute_format_double(value, text);
    CHUTE_MUST(chute_parse_double(text, len, &again) == 0);
    CHUTE_MUST(isnan(value) ? isnan(again) : value == again);
    chute_decimal_from_double(value, precision, scale, &decimal);
}

static void check_words(const char *s, size_t n) {
    char text[CHUTE_NUMBER_TEXT];
    uint64_t u, u2;
    int64_t i, i2;
    if (chute_parse_u64(s, n, &u) == 0)
        CHUTE_MUST(chute_parse_u64(text, chute_format_u64(u, text), &u2) == 0 && u == u2);
    if (chute_parse_i64(s, n, &i) == 0)
        CHUTE_MUST(chute_parse_i64(text, chute_format_i64(i, text), &i2) == 0 && i == i2);
}

/* Any bits have some text. */
static void write_any(const uint8_t *data, size_t size, uint32_t scale) {
    char text[CHUTE_DECIMAL_TEXT];
    chute_int256 value = {{0}};
    memcpy(&value, data, size < sizeof value ? size : sizeof value);
    CHUTE_MUST(chute_format_decimal(&value, true, scale, text) <= sizeof text);
    CHUTE_MUST(chute_format_decimal(&value, false, scale, text) <= sizeof text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2) return 0;
    uint32_t precision = 1 + data[0] % CHUTE_DECIMAL_DIGITS_MAX;
    uint32_t scale = data[1] % (precision + 1);
    const char *s = (const char *)data + 2;
    check_decimal(s, size - 2, precision, scale);
    check_integer(s, size - 2, 8 + data[0] % 32 * 8, data[1] & 1);
    check_double(s, size - 2, precision, scale);
    check_words(s, size - 2);
    write_any(data + 2, size - 2, scale);
    return 0;
}
