#include "check.h"
#include "decimal.h"

#include <math.h>

/* The text must be the value, sign-extended to 256 bits. */
static void decimal(const char *text, uint32_t precision, uint32_t scale, int64_t wanted) {
    chute_int256 value = {{1, 2, 3, 4}};
    int code = chute_parse_decimal(text, strlen(text), precision, scale, &value);
    CHECK_INT(0, code);
    uint64_t sign = wanted < 0 ? UINT64_MAX : 0;
    CHECK_INT(wanted, (int64_t)value.limb[0]);
    CHECK(value.limb[1] == sign && value.limb[2] == sign && value.limb[3] == sign);
}

static void refused(const char *text, uint32_t precision, uint32_t scale, int wanted) {
    chute_int256 value = {{1, 2, 3, 4}};
    CHECK_INT(wanted, chute_parse_decimal(text, strlen(text), precision, scale, &value));
    CHECK(value.limb[0] == 1 && value.limb[3] == 4);
}

static void text(void) {
    decimal("0", 9, 2, 0);
    decimal("-0.00", 9, 2, 0);
    decimal("75.57", 9, 2, 7557);
    decimal("75.57000", 9, 2, 7557);
    decimal("-75.5", 9, 3, -75500);
    decimal("+.5", 9, 1, 5);
    decimal("5.", 9, 1, 50);
    decimal("1e3", 9, 2, 100000);
    decimal("1.5E-2", 9, 3, 15);
    decimal("120000000000e-10", 9, 0, 12);
    decimal("0.000000000000000000000000000001e30", 9, 0, 1);
    decimal("00000000000000000000000000000000000000000000000000000000000000000000000000000000001",
            1, 0, 1);
    decimal("0e99999999999999999999", 1, 0, 0);
    decimal("999999999999999999", 18, 0, 999999999999999999);
    decimal("-9999999.99", 9, 2, -999999999);
    refused("10000000", 9, 2, CHUTE_DECIMAL_RANGE);
    refused("1e99999999999999999999", 76, 0, CHUTE_DECIMAL_RANGE);
    refused("1", 3, 3, CHUTE_DECIMAL_RANGE);
    refused("0.001", 9, 2, CHUTE_DECIMAL_INEXACT);
    refused("1e-99999999999999999999", 76, 76, CHUTE_DECIMAL_INEXACT);
    const char *const bad[] = {"",   "-",  ".",   "-.",  "1.2.3", "e5",  "1e",  "1e+",  "1e5.",
                               " 1", "1 ", "nan", "inf", "0x1",   "1,5", "--1", "1e5e5"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refused(bad[i], 76, 0, CHUTE_DECIMAL_SYNTAX);
}

static void limbs(const char *text, uint32_t scale, uint64_t a, uint64_t b, uint64_t c,
                  uint64_t d) {
    chute_int256 value;
    CHECK_INT(0, chute_parse_decimal(text, strlen(text), 76, scale, &value));
    CHECK(value.limb[0] == a && value.limb[1] == b && value.limb[2] == c && value.limb[3] == d);
}

static void wide(void) {
    limbs("18446744073709551616", 0, 0, 1, 0, 0);
    limbs("-18446744073709551616", 0, 0, UINT64_MAX, UINT64_MAX, UINT64_MAX);
    limbs("99999999999999999999999999999999999999", 0, 0x098A223FFFFFFFFF, 0x4B3B4CA85A86C47A, 0,
          0);
    limbs("340282366920938463463374607431768211456", 0, 0, 0, 1, 0);
    limbs("3402823669209384634633746074317682114.56", 2, 0, 0, 1, 0);
    limbs("9999999999999999999999999999999999999999999999999999999999999999999999999999", 0,
          0xFFFFFFFFFFFFFFFF, 0x7775A5F171950FFF, 0x0764B4ABE8652979, 0x161BCCA7119915B5);
    refused("99999999999999999999999999999999999999.9", 38, 0, CHUTE_DECIMAL_INEXACT);
    refused("100000000000000000000000000000000000000", 38, 0, CHUTE_DECIMAL_RANGE);
    refused("10000000000000000000000000000000000000000000000000000000000000000000000000000", 76, 0,
            CHUTE_DECIMAL_RANGE);
}

static void from_double(double number, uint32_t precision, uint32_t scale, int64_t wanted) {
    chute_int256 value;
    CHECK_INT(0, chute_decimal_from_double(number, precision, scale, &value));
    CHECK_INT(wanted, (int64_t)value.limb[0]);
    CHECK_INT(wanted < 0 ? -1 : 0, (int64_t)value.limb[3]);
}

static void doubles(void) {
    chute_int256 value;
    from_double(75.57, 9, 2, 7557);
    from_double(1.005, 9, 2, 101); /* its shortest text says so, though its bits are below */
    from_double(-1.005, 9, 2, -101);
    from_double(0.004, 9, 2, 0);
    from_double(0.005, 9, 2, 1);
    from_double(0.0005, 9, 2, 0);
    from_double(9.999, 9, 2, 1000);
    from_double(0.5, 9, 0, 1);
    from_double(-0.0, 9, 0, 0);
    from_double(1e-300, 9, 9, 0);
    from_double(123456789, 9, 0, 123456789);
    from_double(1e14, 18, 3, 100000000000000000);
    CHECK_INT(CHUTE_DECIMAL_RANGE, chute_decimal_from_double(9999999.999, 9, 2, &value));
    CHECK_INT(CHUTE_DECIMAL_RANGE, chute_decimal_from_double(1e300, 76, 0, &value));
    CHECK_INT(CHUTE_DECIMAL_SYNTAX, chute_decimal_from_double(NAN, 9, 2, &value));
    CHECK_INT(CHUTE_DECIMAL_SYNTAX, chute_decimal_from_double(INFINITY, 9, 2, &value));
}

static int integer(const char *text, uint32_t bits, bool is_signed, chute_int256 *value) {
    return chute_parse_integer(text, strlen(text), bits, is_signed, value);
}

static void integers(void) {
    chute_int256 v;
    CHECK_INT(0, integer("255", 8, false, &v));
    CHECK_INT(CHUTE_DECIMAL_RANGE, integer("256", 8, false, &v));
    CHECK_INT(0, integer("-128", 8, true, &v));
    CHECK_INT(-128, (int64_t)v.limb[0]);
    CHECK_INT(CHUTE_DECIMAL_RANGE, integer("128", 8, true, &v));
    CHECK_INT(CHUTE_DECIMAL_RANGE, integer("-129", 8, true, &v));
    CHECK_INT(0, integer("340282366920938463463374607431768211455", 128, false, &v));
    CHECK(v.limb[0] == UINT64_MAX && v.limb[1] == UINT64_MAX && v.limb[2] == 0);
    CHECK_INT(CHUTE_DECIMAL_RANGE,
              integer("340282366920938463463374607431768211456", 128, false, &v));
    CHECK_INT(0, integer("-170141183460469231731687303715884105728", 128, true, &v));
    CHECK(v.limb[0] == 0 && v.limb[1] == 1ull << 63 && v.limb[2] == UINT64_MAX);
    CHECK_INT(CHUTE_DECIMAL_RANGE,
              integer("-170141183460469231731687303715884105729", 128, true, &v));
    const char *max =
        "115792089237316195423570985008687907853269984665640564039457584007913129639935";
    const char *over =
        "115792089237316195423570985008687907853269984665640564039457584007913129639936";
    CHECK_INT(0, integer(max, 256, false, &v));
    CHECK(v.limb[0] == UINT64_MAX && v.limb[3] == UINT64_MAX);
    CHECK_INT(CHUTE_DECIMAL_RANGE, integer(over, 256, false, &v));
    CHECK_INT(CHUTE_DECIMAL_RANGE, integer(max, 256, true, &v));
    CHECK_INT(0, integer("-0", 256, false, &v));
    CHECK_INT(CHUTE_DECIMAL_RANGE, integer("-1", 256, false, &v));
    CHECK_INT(CHUTE_DECIMAL_SYNTAX, integer("", 256, true, &v));
    CHECK_INT(CHUTE_DECIMAL_SYNTAX, integer("1.0", 256, true, &v));
}

int main(void) {
    text();
    wide();
    doubles();
    integers();
    return check_report("core/decimal");
}
