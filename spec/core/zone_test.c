#include "check.h"
#include "zone.h"
#include "zone_rule.h"

#include <stdbool.h>
#include <stdlib.h>

static bool opens(const char *name) {
    chute_error err;
    chute_zone *zone = chute_zone_open(name, strlen(name), &err);
    chute_zone_free(zone);
    return zone != NULL;
}

static void names(void) {
    CHECK(opens("UTC") && opens("Etc/UTC") && opens("GMT"));
    CHECK(opens("Europe/Berlin") && opens("America/Argentina/Buenos_Aires") && opens("Etc/GMT+12"));
    const char *const bad[] = {
        "",       "utc2",           "Nowhere/None", "/usr/share/zoneinfo/UTC",
        "../etc", "Europe//Rome",   "Europe/",      "Europe",
        ".",      "Europe/../GB",   "tzdata.zi",    "zone.tab",
        "a b",    "Europe/Berlin\n"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) CHECK(!opens(bad[i]));
    chute_error err;
    CHECK(chute_zone_open("UTC\0x", 5, &err) == NULL);
    CHECK_INT(CHUTE_E_SCHEMA, err.kind);
    CHECK_TEXT("unknown time zone 'UTC\\x00x'", err.message, strlen(err.message));
}

/* Without a zone folder only those that need no file are there. */
static void folder(void) {
    setenv("TZDIR", "/nonexistent", 1);
    CHECK(opens("UTC") && !opens("Europe/Berlin"));
    unsetenv("TZDIR");
    CHECK(opens("Europe/Berlin"));
}

static int32_t rule_at(const char *text, int64_t utc) {
    struct chute_zone_rule rule;
    if (!chute_zone_rule_parse(text, strlen(text), &rule)) return INT32_MIN;
    return chute_zone_rule_at(&rule, utc);
}

static void rules(void) {
    const int64_t january = 1704067200, july = 1719792000; /* 2024 */
    CHECK_INT(0, rule_at("UTC0", january));
    CHECK_INT(12600, rule_at("<+0330>-3:30", january));
    CHECK_INT(3600, rule_at("CET-1CEST,M3.5.0,M10.5.0/3", january));
    CHECK_INT(7200, rule_at("CET-1CEST,M3.5.0,M10.5.0/3", july));
    CHECK_INT(39600, rule_at("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", january));
    CHECK_INT(37800, rule_at("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", july));
    CHECK_INT(0, rule_at("IST-1GMT0,M10.5.0,M3.5.0/1", january)); /* winter is the exception */
    CHECK_INT(3600, rule_at("IST-1GMT0,M10.5.0,M3.5.0/1", july));
    CHECK_INT(-10800, rule_at("XXX3EDT4,0/0,J365/23", january) + 3600); /* all year round */
    CHECK_INT(-10800, rule_at("XXX3EDT4,0/0,J365/23", july) + 3600);
    CHECK_INT(-7200, rule_at("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", 1711846799)); /* hours below 0 */
    CHECK_INT(-3600, rule_at("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", 1711846800));
    CHECK_INT(3600, rule_at("AAA0BBB,J60,J61", 1709258400)); /* 1 March 02:00, a leap year too */
    CHECK_INT(0, rule_at("AAA0BBB,J60,J61", 1709258399));
    CHECK_INT(3600, rule_at("AAA0BBB,59,60", 1709172000)); /* day 59 is 29 February */
    CHECK_INT(7200, rule_at("CET-1CEST,M3.5.0,M10.5.0/3", 4118083200 + 12622780800)); /* 2500 */
    const char *const bad[] = {"",
                               "CET",
                               "C-1",
                               "CET-1CEST",
                               "CET-25",
                               "CET-1CEST,M3.5.0",
                               "<+01-1",
                               "CET-1CEST,M13.5.0,M10.5.0",
                               "CET-1CEST,M3.6.0,M10.5.0",
                               "CET-1CEST,M3.5.7,M10.5.0",
                               "CET-1CEST,J0,J365",
                               "CET-1CEST,366,1",
                               "CET-1CEST,M3.5.0,M10.5.0/168",
                               "CET-1x"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) CHECK_INT(INT32_MIN, rule_at(bad[i], 0));
}

static unsigned char file[1 << 16];

static size_t read_zone_file(const char *path) {
    FILE *in = fopen(path, "rb");
    CHECK(in != NULL);
    if (!in) return 0;
    size_t len = fread(file, 1, sizeof file, in);
    fclose(in);
    return len;
}

/* No beginning of a file is a zone, and a byte changed anywhere is no crash. */
static void damage(void) {
    size_t len = read_zone_file("/usr/share/zoneinfo/Europe/Berlin");
    chute_error err;
    chute_zone *whole = chute_zone_parse(file, len, &err);
    CHECK(whole != NULL);
    chute_zone_free(whole);
    unsigned accepted = 0;
    for (size_t cut = 0; cut < len; cut++) {
        unsigned char *copy = malloc(cut + 1);
        memcpy(copy, file, cut);
        chute_zone *zone = chute_zone_parse(copy, cut, &err);
        accepted += zone != NULL;
        chute_zone_free(zone);
        free(copy);
    }
    CHECK_INT(0, accepted);
    for (size_t at = 0; at < len; at++) {
        file[at] ^= 0xA5;
        chute_zone *zone = chute_zone_parse(file, len, &err);
        if (zone) chute_zone_to_utc(zone, (int64_t)at << 22);
        chute_zone_free(zone);
        file[at] ^= 0xA5;
    }
}

static void extremes(void) {
    chute_zone *zone = chute_zone_open("Europe/Berlin", 13, NULL);
    CHECK_INT(INT64_MAX, chute_zone_to_utc(zone, INT64_MAX) + 3600);
    CHECK_INT(INT64_MIN, chute_zone_to_utc(zone, INT64_MIN));
    chute_zone_free(zone);
}

int main(void) {
    names();
    folder();
    rules();
    damage();
    extremes();
    return check_report("core/zone");
}
