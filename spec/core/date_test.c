#include "check.h"
#include "date.h"

#include "error.h"

static const int64_t FAILED = INT64_MIN + 10;

static chute_zone *open_zone(const char *name) {
    chute_error err;
    chute_zone *zone = chute_zone_open(name, strlen(name), &err);
    CHECK(zone != NULL);
    return zone;
}

/* The ticks of a text, or FAILED + code. Asked with no cache, an empty one and a warm one. */
static int64_t ticks_in(const chute_zone *zone, const char *text, uint32_t scale) {
    struct chute_date_cache cache = {.seen = false};
    int64_t plain = 77, cold = 77, warm = 77;
    size_t len = strlen(text);
    int code = chute_parse_datetime(text, len, zone, scale, NULL, &plain);
    CHECK_INT(code, chute_parse_datetime(text, len, zone, scale, &cache, &cold));
    CHECK_INT(code, chute_parse_datetime(text, len, zone, scale, &cache, &warm));
    CHECK_INT(plain, cold);
    CHECK_INT(plain, warm);
    CHECK(code == 0 || plain == 77);
    return code < 0 ? FAILED + code : plain;
}

static int64_t ticks(const char *text, uint32_t scale) {
    return ticks_in(NULL, text, scale);
}

static int64_t seconds(const char *text) {
    return ticks(text, 0);
}

static int64_t day(const char *text) {
    int32_t days = 77;
    int code = chute_parse_date(text, strlen(text), &days);
    CHECK(code == 0 || days == 77);
    return code < 0 ? FAILED + code : days;
}

static void dates(void) {
    CHECK_INT(0, day("1970-01-01"));
    CHECK_INT(-1, day("1969-12-31"));
    CHECK_INT(-25567, day("1900-01-01"));
    CHECK_INT(120529, day("2299-12-31"));
    CHECK_INT(65535, day("2149-06-06"));
    CHECK_INT(-719528, day("0000-01-01"));
    CHECK_INT(2932896, day("9999-12-31"));
    CHECK_INT(11016, day("2000-02-29"));
    CHECK_INT(FAILED + CHUTE_DATE_RANGE, day("1900-02-29"));
    CHECK_INT(FAILED + CHUTE_DATE_RANGE, day("2100-02-29"));
    CHECK_INT(19782, day("2024-02-29"));
    CHECK_INT(FAILED + CHUTE_DATE_RANGE, day("2023-02-29"));
    CHECK_INT(FAILED + CHUTE_DATE_RANGE, day("2024-00-10"));
    CHECK_INT(FAILED + CHUTE_DATE_RANGE, day("2024-13-10"));
    CHECK_INT(FAILED + CHUTE_DATE_RANGE, day("2024-04-31"));
    CHECK_INT(FAILED + CHUTE_DATE_RANGE, day("2024-04-00"));
    const char *const bad[] = {"",           "2024-1-01",   "2024-01-1",   "24-01-01",
                               "2024/01/01", "2024-01-01 ", " 2024-01-01", "20240101",
                               "2024-01-0x", "-024-01-01"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_INT(FAILED + CHUTE_DATE_SYNTAX, day(bad[i]));
}

/* Every day of 800 years follows the one before it. */
static void calendar(void) {
    static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int32_t next = chute_days_from_civil(1600, 1, 1);
    unsigned wrong = 0;
    for (int32_t year = 1600; year < 2400; year++)
        for (uint32_t month = 1; month <= 12; month++) {
            int leap = month == 2 && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            for (uint32_t d = 1; d <= days[month - 1] + (uint32_t)leap; d++)
                wrong += chute_days_from_civil(year, month, d) != next++;
        }
    CHECK_INT(0, wrong);
}

static void instants(void) {
    CHECK_INT(1734094439, seconds("2024-12-13 12:53:59"));
    CHECK_INT(1734094439, seconds("2024-12-13T12:53:59Z"));
    CHECK_INT(1734094439, seconds("2024-12-13t12:53:59z"));
    CHECK_INT(1734094380, seconds("2024-12-13 12:53"));
    CHECK_INT(1734094380, seconds("2024-12-13T12:53Z"));
    CHECK_INT(1734048000, seconds("2024-12-13"));
    CHECK_INT(1734094439 - 3600, seconds("2024-12-13T12:53:59+01"));
    CHECK_INT(1734094439 - 19800, seconds("2024-12-13T12:53:59+0530"));
    CHECK_INT(1734094439 + 12600, seconds("2024-12-13T12:53:59-03:30"));
    CHECK_INT(1734094439123, ticks("2024-12-13 12:53:59.123456", 3));
    CHECK_INT(1734094439120, ticks("2024-12-13 12:53:59,12Z", 3));
    CHECK_INT(1734094439999, ticks("2024-12-13 12:53:59.9999999999999999999999999", 3));
    CHECK_INT(1734094439, seconds("2024-12-13 12:53:59.999"));
    CHECK_INT(1734094439123456789, ticks("2024-12-13 12:53:59.123456789+00:00", 9));
    CHECK_INT(-1, ticks("1969-12-31 23:59:59.999", 3));
    CHECK_INT(-1, seconds("1969-12-31 23:59:59.999"));
    CHECK_INT(-10, ticks("1969-12-31 23:59:59.9901", 3));
    CHECK_INT(-2208988800, seconds("1900-01-01"));
    CHECK_INT(10413791999, seconds("2299-12-31 23:59:59"));
    CHECK_INT(FAILED + CHUTE_DATE_RANGE, ticks("2262-04-11 23:47:16.854775808", 9));
    CHECK_INT(INT64_MAX, ticks("2262-04-11 23:47:16.854775807", 9));
    CHECK_INT(FAILED + CHUTE_DATE_RANGE, ticks("9999-12-31", 9));
}

static void refusals(void) {
    const char *const range[] = {"2024-02-30 10:00",       "2024-12-13 24:00:00",
                                 "2024-12-13 12:60",       "2024-12-13 12:59:60",
                                 "2024-12-13 12:53+24:00", "2024-12-13 12:53+10:60"};
    const char *const syntax[] = {"",
                                  "2024-12-13 ",
                                  "2024-12-13 12",
                                  "2024-12-13 12Z",
                                  "2024-12-13 12:5",
                                  "2024-12-13_12:53",
                                  "2024-12-13 12:53:",
                                  "2024-12-13 12:53:5",
                                  "2024-12-13 12:53:59.",
                                  "2024-12-13 12:53:59.Z",
                                  "2024-12-13 12:53.5",
                                  "2024-12-13 12:53:59 ",
                                  "2024-12-13 12:53:59ZZ",
                                  "2024-12-13 12:53:59+",
                                  "2024-12-13 12:53:59+1",
                                  "2024-12-13 12:53:59+1:00",
                                  "2024-12-13 12:53:59+01-00",
                                  "2024-12-13 12:53:59 +01:00",
                                  "2024-12-13T1a:53:59",
                                  "Fri, 13 Dec 2024 12:53:59 GMT",
                                  "1734094439"};
    for (size_t i = 0; i < sizeof range / sizeof *range; i++)
        CHECK_INT(FAILED + CHUTE_DATE_RANGE, seconds(range[i]));
    for (size_t i = 0; i < sizeof syntax / sizeof *syntax; i++)
        CHECK_INT(FAILED + CHUTE_DATE_SYNTAX, seconds(syntax[i]));
}

static void berlin(void) {
    chute_zone *zone = open_zone("Europe/Berlin");
    CHECK_INT(1734090839, ticks_in(zone, "2024-12-13 12:53:59", 0));
    CHECK_INT(1734094439, ticks_in(zone, "2024-12-13 12:53:59Z", 0)); /* its own offset wins */
    CHECK_INT(1711846799, ticks_in(zone, "2024-03-31 01:59:59", 0));
    CHECK_INT(1711848600, ticks_in(zone, "2024-03-31 02:30:00", 0)); /* skipped: 03:30 */
    CHECK_INT(1711846800, ticks_in(zone, "2024-03-31 03:00:00", 0));
    CHECK_INT(1729987200, ticks_in(zone, "2024-10-27 02:00:00", 0)); /* twice: the first */
    CHECK_INT(1729990799, ticks_in(zone, "2024-10-27 02:59:59", 0));
    CHECK_INT(1729994400, ticks_in(zone, "2024-10-27 03:00:00", 0));
    CHECK_INT(4117989600, ticks_in(zone, "2100-06-30 00:00:00", 0)); /* by the footer's rule */
    CHECK_INT(3600, chute_zone_offset_at(zone, 4102444800));
    CHECK_INT(7200, chute_zone_offset_at(zone, 4118004000));
    CHECK_INT(3208, chute_zone_offset_at(zone, -2500000000)); /* local mean time */
    chute_zone_free(zone);
}

static void other_zones(void) {
    chute_zone *york = open_zone("America/New_York");
    CHECK_INT(1710056400, ticks_in(york, "2024-03-10 02:40:00", 0)); /* skipped */
    CHECK_INT(1730611800, ticks_in(york, "2024-11-03 01:30:00", 0)); /* twice */
    chute_zone_free(york);
    chute_zone *howe = open_zone("Australia/Lord_Howe"); /* its clocks go by half an hour */
    CHECK_INT(1728142200, ticks_in(howe, "2024-10-06 02:00:00", 0));
    CHECK_INT(1728143940, ticks_in(howe, "2024-10-06 02:29:00", 0));
    CHECK_INT(1728142200, ticks_in(howe, "2024-10-06 02:30:00", 0));
    CHECK_INT(1712414700, ticks_in(howe, "2024-04-07 01:45:00", 0)); /* twice */
    CHECK_INT(39600, chute_zone_offset_at(howe, 4102444800));        /* January: summer */
    CHECK_INT(37800, chute_zone_offset_at(howe, 4118004000));
    chute_zone_free(howe);
    chute_zone *kolkata = open_zone("Asia/Kolkata");
    CHECK_INT(1734074639, ticks_in(kolkata, "2024-12-13 12:53:59", 0));
    chute_zone_free(kolkata);
}

/* A warm cache must not carry over into an hour whose offset changes, or one of another day. */
static void cache(void) {
    chute_zone *zone = open_zone("Australia/Lord_Howe");
    struct chute_date_cache kept = {.seen = false};
    unsigned wrong = 0;
    for (int minute = 0; minute < 60; minute++) {
        char text[32];
        int64_t with, without;
        int len = snprintf(text, sizeof text, "2024-10-06 %02d:%02d:07", 1 + minute % 3, minute);
        chute_parse_datetime(text, (size_t)len, zone, 0, &kept, &with);
        chute_parse_datetime(text, (size_t)len, zone, 0, NULL, &without);
        wrong += with != without;
    }
    CHECK_INT(0, wrong);
    int64_t value = 0;
    CHECK_INT(0, chute_parse_datetime("2024-12-13 12:00:00", 19, NULL, 0, &kept, &value));
    CHECK_INT(CHUTE_DATE_SYNTAX,
              chute_parse_datetime("2024-12-13x12:00:00", 19, NULL, 0, &kept, &value));
    CHECK_INT(0, chute_parse_datetime("2024-12-13 12:00:01", 19, NULL, 0, &kept, &value));
    CHECK_INT(1734091201, value);
    chute_zone_free(zone);
}

static int64_t duration(const char *text, uint32_t scale) {
    int64_t value = 77;
    int code = chute_parse_time(text, strlen(text), scale, &value);
    CHECK(code == 0 || value == 77);
    return code < 0 ? FAILED + code : value;
}

static void times(void) {
    CHECK_INT(45239, duration("12:33:59", 0));
    CHECK_INT(3599999, duration("999:59:59", 0));
    CHECK_INT(-3599999, duration("-999:59:59", 0));
    CHECK_INT(3661, duration("+1:01:01", 0));
    CHECK_INT(1500, duration("00:00:01.5", 3));
    CHECK_INT(-1500, duration("-0:00:01,5", 3));
    CHECK_INT(1, duration("0:00:01.999", 0));
    CHECK_INT(-2, duration("-0:00:01.001", 0)); /* floored */
    CHECK_INT(-1, duration("-0:00:01.000", 0));
    CHECK_INT(-359999999000, duration("-999:59:59.99", 5));
    CHECK_INT(FAILED + CHUTE_DATE_RANGE, duration("-999:59:59.999", 2));
    CHECK_INT(FAILED + CHUTE_DATE_RANGE, duration("10:60:00", 0));
    CHECK_INT(FAILED + CHUTE_DATE_RANGE, duration("10:00:60", 0));
    const char *const bad[] = {"",        "-",         "1000:00:00", "10:00",     "10:0:00",
                               "10:00:0", "10:00:00.", "10:00:00x",  "10:00:00Z", ":00:00"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_INT(FAILED + CHUTE_DATE_SYNTAX, duration(bad[i], 0));
}

int main(void) {
    dates();
    calendar();
    instants();
    refusals();
    berlin();
    other_zones();
    cache();
    times();
    return check_report("core/date");
}
