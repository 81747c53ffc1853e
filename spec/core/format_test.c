/* Days, instants, durations and decimals as text. */
#include "date.h"
#include "decimal.h"

#include "check.h"

static void check_date(const char *wanted, int64_t days) {
    char text[CHUTE_DATE_TEXT];
    CHECK_TEXT(wanted, text, chute_format_date(days, text));
}

static void dates(void) {
    check_date("1970-01-01", 0);
    check_date("1969-12-31", -1);
    check_date("2000-02-29", 11016);
    check_date("2149-06-06", 65535);
    check_date("0000-01-01", -719528);
    check_date("-0001-12-31", -719529);
    check_date("10000-01-01", 2932897);
    char text[CHUTE_DATE_TEXT];
    for (int32_t days = -719528, again; days < 2932897; days += 17)
        CHECK(chute_parse_date(text, chute_format_date(days, text), &again) == 0 && again == days);
}

static void check_instant(const char *wanted, int64_t ticks, uint32_t scale, const char *name,
                          bool offset) {
    char text[CHUTE_DATE_TEXT];
    chute_zone *zone = name ? chute_zone_open(name, strlen(name), NULL) : NULL;
    struct chute_date_style style = {.zone = zone, .offset = offset};
    CHECK_TEXT(wanted, text, chute_format_datetime(ticks, scale, style, text));
    chute_zone_free(zone);
}

static void instants(void) {
    check_instant("1970-01-01 00:00:00", 0, 0, NULL, false);
    check_instant("1970-01-01 00:00:00+00:00", 0, 0, NULL, true);
    check_instant("1969-12-31 23:59:59.999", -1, 3, NULL, false);
    check_instant("1969-12-31 19:59:59.5-04:00", -5, 1, "America/Halifax", true);
    check_instant("2024-10-27 02:30:00+02:00", 1729989000, 0, "Europe/Berlin", true);
    check_instant("2024-10-27 02:30:00+01:00", 1729992600, 0, "Europe/Berlin", true);
    check_instant("2024-03-01 05:45:00+05:45", 1709251200, 0, "Asia/Kathmandu", true);
    /* 19 minutes and 32 seconds east, which no text has. */
    check_instant("1920-01-01 00:00:00+00:00", -1577923200, 0, "Europe/Amsterdam", true);
    check_instant("1677-09-21 00:12:43.145224192", INT64_MIN, 9, NULL, false);
    check_instant("2262-04-11 23:47:16.854775807+00:00", INT64_MAX, 9, NULL, true);
    check_instant("-292277022657-01-27 08:29:52+00:00", INT64_MIN, 0, NULL, true);
    check_instant("292277026596-12-04 15:30:07+00:00", INT64_MAX, 0, NULL, true);
}

static void check_time(const char *wanted, int64_t ticks, uint32_t scale) {
    char text[CHUTE_DATE_TEXT];
    CHECK_TEXT(wanted, text, chute_format_time(ticks, scale, text));
}

static void times(void) {
    check_time("00:00:00", 0, 0);
    check_time("-00:00:00.5", -5, 1);
    check_time("-999:59:59.999999999", -3599999999999999, 9);
    check_time("-2562047788015215:30:08", INT64_MIN, 0);
}

static void check_decimal(const char *wanted, chute_int256 value, bool is_signed, uint32_t scale) {
    char text[CHUTE_DECIMAL_TEXT];
    CHECK_TEXT(wanted, text, chute_format_decimal(&value, is_signed, scale, text));
}

static chute_int256 of(int64_t low) {
    uint64_t high = low < 0 ? UINT64_MAX : 0;
    return (chute_int256){{(uint64_t)low, high, high, high}};
}

static void decimals(void) {
    const chute_int256 all = {{UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX}};
    const chute_int256 least = {{0, 0, 0, 1ull << 63}};
    check_decimal("0", of(0), true, 0);
    check_decimal("0", of(0), true, 76);
    check_decimal("75.57", of(7557), true, 2);
    check_decimal("75.5", of(7550), true, 2);
    check_decimal("75", of(7500), true, 2);
    check_decimal("-0.05", of(-5), true, 2);
    check_decimal("1000000000000000000", of(1000000000000000000), true, 0);
    check_decimal("-9223372036854775808", of(INT64_MIN), true, 0);
    check_decimal("-1", all, true, 0);
    check_decimal("-0.0000000000000000000000000000000000000000000000000000000000000000000000000001",
                  all, true, 76);
    check_decimal("115792089237316195423570985008687907853269984665640564039457584007913129639935",
                  all, false, 0);
    check_decimal("-57896044618658097711785492504343953926634992332820282019728792003956564819968",
                  least, true, 0);
    check_decimal("-5.7896044618658097711785492504343953926634992332820282019728792003956564819968",
                  least, true, 76);
}

int main(void) {
    dates();
    instants();
    times();
    decimals();
    return check_report("core/format");
}
