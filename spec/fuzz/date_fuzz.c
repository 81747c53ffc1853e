/* Days, instants and durations: what is read is written in a form that reads as the same. The first
 * byte chooses scale and zone. */
#include "fuzz.h"

#include "date.h"

enum { ZONES = 4 };

static const chute_zone *zone_of(unsigned which) {
    static const char *const names[ZONES] = {"UTC", "Europe/Berlin", "America/St_Johns",
                                             "Europe/Amsterdam"};
    static chute_zone *zones[ZONES];
    which %= ZONES;
    if (!zones[which]) zones[which] = chute_zone_open(names[which], strlen(names[which]), NULL);
    CHUTE_MUST(zones[which]);
    return zones[which];
}

static void check_date(const char *s, size_t n) {
    char text[CHUTE_DATE_TEXT];
    int32_t days, again;
    if (chute_parse_date(s, n, &days)) return;
    size_t len = chute_format_date(days, text);
    CHUTE_MUST(chute_parse_date(text, len, &again) == 0 && again == days);
}

/* A time of year 0 or 9999 may be of a year more or less by another clock, which no text has. */
static bool has_text(int64_t ticks, uint32_t scale) {
    for (uint32_t i = 0; i < scale; i++) ticks /= 10;
    return ticks > -62167132800 && ticks < 253402214400;
}

static void check_datetime(const char *s, size_t n, uint32_t scale, const chute_zone *zone) {
    char text[CHUTE_DATE_TEXT];
    int64_t ticks, again;
    struct chute_date_cache cache = {0};
    int code = chute_parse_datetime(s, n, zone, scale, NULL, &ticks);
    for (int i = 0; i < 2; i++) {
        CHUTE_MUST(chute_parse_datetime(s, n, zone, scale, &cache, &again) == code);
        CHUTE_MUST(code || again == ticks);
    }
    if (code || !has_text(ticks, scale)) return;
    size_t len = chute_format_datetime(
        ticks, scale, (struct chute_date_style){.zone = zone, .offset = true}, text);
    CHUTE_MUST(len <= sizeof text);
    CHUTE_MUST(chute_parse_datetime(text, len, NULL, scale, NULL, &again) == 0 && again == ticks);
}

static void check_time(const char *s, size_t n, uint32_t scale) {
    char text[CHUTE_DATE_TEXT];
    int64_t ticks, again;
    if (chute_parse_time(s, n, scale, &ticks)) return;
    size_t len = chute_format_time(ticks, scale, text);
    CHUTE_MUST(chute_parse_time(text, len, scale, &again) == 0 && again == ticks);
}

/* Any ticks at all have some text. */
static void write_any(const uint8_t *data, size_t size, uint32_t scale, const chute_zone *zone) {
    char text[CHUTE_DATE_TEXT];
    int64_t ticks = 0;
    memcpy(&ticks, data, size < sizeof ticks ? size : sizeof ticks);
    CHUTE_MUST(chute_format_datetime(ticks, scale, (struct chute_date_style){zone, true}, text) <=
               sizeof text);
    CHUTE_MUST(chute_format_time(ticks, scale, text) <= sizeof text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    uint32_t scale = data[0] % 10;
    const chute_zone *zone = zone_of(data[0] / 10);
    const char *s = (const char *)data + 1;
    check_date(s, size - 1);
    check_datetime(s, size - 1, scale, zone);
    check_time(s, size - 1, scale);
    write_any(data + 1, size - 1, scale, zone);
    return 0;
}
