#include "check.h"
#include "number.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static int64_t u64(const char *text) {
    uint64_t value = 77;
    int code = chute_parse_u64(text, strlen(text), &value);
    CHECK(code == 0 || value == 77);
    return code < 0 ? code : (int64_t)value;
}

static int64_t i64(const char *text) {
    int64_t value = 77;
    int code = chute_parse_i64(text, strlen(text), &value);
    CHECK(code == 0 || value == 77);
    return code < 0 ? code : value;
}

static void whole_numbers(void) {
    CHECK_INT(0, u64("0"));
    CHECK_INT(7, u64("+007"));
    CHECK_INT(0, u64("-0"));
    CHECK_INT(UINT64_MAX, u64("18446744073709551615"));
    CHECK_INT(UINT64_MAX, u64("00000000000000018446744073709551615"));
    CHECK_INT(CHUTE_NUMBER_RANGE, u64("18446744073709551616"));
    CHECK_INT(CHUTE_NUMBER_RANGE, u64("99999999999999999999999999999999999999999"));
    CHECK_INT(CHUTE_NUMBER_RANGE, u64("-1"));
    CHECK_INT(CHUTE_NUMBER_SYNTAX, u64("99999999999999999999999x"));
    CHECK_INT(INT64_MAX, i64("9223372036854775807"));
    CHECK_INT(CHUTE_NUMBER_RANGE, i64("9223372036854775808"));
    CHECK_INT(CHUTE_NUMBER_RANGE, i64("-9223372036854775809"));
    int64_t least = 0;
    CHECK_INT(0, chute_parse_i64("-9223372036854775808", 20, &least));
    CHECK(least == INT64_MIN);
    const char *const bad[] = {"", "-", "+", "--1", " 1", "1 ", "1.0", "1e3", "0x1", "１"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_INT(CHUTE_NUMBER_SYNTAX, i64(bad[i]));
    CHECK_INT(CHUTE_NUMBER_SYNTAX, chute_parse_i64("1\0", 2, &least));
}

static void written(uint64_t value, const char *wanted) {
    char out[CHUTE_NUMBER_TEXT];
    CHECK_TEXT(wanted, out, chute_format_u64(value, out));
}

static void written_signed(int64_t value, const char *wanted) {
    char out[CHUTE_NUMBER_TEXT];
    CHECK_TEXT(wanted, out, chute_format_i64(value, out));
}

static void whole_numbers_out(void) {
    written(0, "0");
    written(9, "9");
    written(10, "10");
    written(100, "100");
    written(12345, "12345");
    written(UINT64_MAX, "18446744073709551615");
    written_signed(-1, "-1");
    written_signed(INT64_MIN, "-9223372036854775808");
    written_signed(INT64_MAX, "9223372036854775807");
}

static double number(const char *text) {
    double value = -12345;
    int code = chute_parse_double(text, strlen(text), &value);
    return code < 0 ? code * 1000 : value;
}

static const double SYNTAX = -1000, RANGE = -2000;

static void doubles_in(void) {
    CHECK(number("75.57") == 75.57);
    CHECK(number(".5") == 0.5 && number("5.") == 5 && number("+1e3") == 1000);
    CHECK(number("1E-2") == 0.01);
    CHECK(number("0.1") + number("0.2") != 0.3);
    CHECK(number("9007199254740993") == 9007199254740992.0);
    CHECK(number("1.7976931348623157e308") == DBL_MAX);
    CHECK(number("4.9e-324") == 4.9406564584124654e-324);
    CHECK(number("1e-400") == 0);
    CHECK(signbit(number("-0")) && number("-0") == 0);
    CHECK(isinf(number("inf")) && number("-Infinity") < 0 && isnan(number("NaN")));
    CHECK(number("1e309") == RANGE && number("-1e999999999999") == RANGE);
    CHECK(number("0e999999999999") == 0);
    CHECK(number("") == SYNTAX && number(".") == SYNTAX && number("1e") == SYNTAX);
    CHECK(number("1e+") == SYNTAX && number("1.2.3") == SYNTAX && number("0x10") == SYNTAX);
    CHECK(number(" 1") == SYNTAX && number("1,5") == SYNTAX && number("infin") == SYNTAX);
    char nines[5000];
    memset(nines, '9', sizeof nines);
    double value;
    CHECK_INT(0, chute_parse_double(nines, 300, &value));
    CHECK(value == 1e300);
    CHECK_INT(CHUTE_NUMBER_RANGE, chute_parse_double(nines, 4096, &value));
    CHECK_INT(CHUTE_NUMBER_SYNTAX, chute_parse_double(nines, 4097, &value));
}

static void shortest(double value, const char *wanted) {
    char out[CHUTE_NUMBER_TEXT];
    size_t len = chute_format_double(value, out);
    double back = 0;
    CHECK_TEXT(wanted, out, len);
    CHECK_INT(0, chute_parse_double(out, len, &back));
    CHECK(memcmp(&back, &value, sizeof value) == 0 || isnan(value));
}

static void doubles_out(void) {
    shortest(0, "0");
    shortest(-0.0, "-0");
    shortest(42, "42");
    shortest(-1.5, "-1.5");
    shortest(75.57, "75.57");
    shortest(0.1 + 0.2, "0.30000000000000004");
    shortest(1.0 / 3, "0.3333333333333333");
    shortest(0.000001, "0.000001");
    shortest(2.5e-7, "2.5e-7");
    shortest(9007199254740992.0, "9007199254740992");
    shortest(1e20, "100000000000000000000");
    shortest(1e21, "1e21");
    shortest(1.5e300, "1.5e300");
    shortest(DBL_MAX, "1.7976931348623157e308");
    shortest(DBL_MIN, "2.2250738585072014e-308");
    shortest(5e-324, "5e-324");
    shortest(-DBL_MAX / 7, "-2.5681330498033083e307");
    shortest(0x1p-44, "5.684341886080802e-14"); /* above a power of two doubles are rarer */
    shortest(INFINITY, "inf");
    shortest(-INFINITY, "-inf");
    shortest(NAN, "nan");
}

/* Writes every double it is given as the shortest text: one digit fewer must not read back. */
static void no_shorter_text(void) {
    uint64_t state = 1;
    unsigned longer = 0, wrong = 0;
    for (int i = 0; i < 20000; i++) {
        char out[CHUTE_NUMBER_TEXT], shorter[64];
        double value, back;
        state = state * 6364136223846793005u + 1442695040888963407u;
        memcpy(&value, &state, sizeof value);
        if (!isfinite(value) || fabs(value) < DBL_MIN) continue;
        size_t len = chute_format_double(value, out);
        wrong += chute_parse_double(out, len, &back) != 0 || back != value;
        char digits[20];
        int exponent;
        size_t count = chute_double_digits(fabs(value), digits, &exponent);
        if (count < 2) continue;
        snprintf(shorter, sizeof shorter, "%.*e", (int)count - 2, value);
        longer += strtod(shorter, NULL) == value;
    }
    CHECK_INT(0, wrong);
    CHECK_INT(0, longer);
}

int main(void) {
    whole_numbers();
    whole_numbers_out();
    doubles_in();
    doubles_out();
    no_shorter_text();
    return check_report("core/number");
}
