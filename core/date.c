#include "date.h"

#include <string.h>

enum { HOUR_TEXT = 13 }; /* "YYYY-MM-DD?HH" */

static const int64_t TIME_END = 1000 * 3600;
static const int64_t POWERS[] = {1,      10,      100,      1000,      10000,
                                 100000, 1000000, 10000000, 100000000, 1000000000};

/* ---- calendar ----------------------------------------------------------------------------- */

/* Years begin in March, so that the leap day is their last; 400 of them are 146097 days. */
int32_t chute_days_from_civil(int32_t year, uint32_t month, uint32_t day) {
    int32_t y = year - (month <= 2);
    int32_t era = (y >= 0 ? y : y - 399) / 400;
    int32_t of_era = y - era * 400;
    int32_t of_year = (153 * ((int32_t)month + (month > 2 ? -3 : 9)) + 2) / 5 + (int32_t)day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static uint32_t month_days(uint32_t year, uint32_t month) {
    static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return month == 2 && leap ? 29 : days[month - 1];
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* The number that two digits make, or past 99 where they are none. */
static uint32_t two_digits(const char *s) {
    uint32_t high = (uint32_t)(uint8_t)s[0] - '0', low = (uint32_t)(uint8_t)s[1] - '0';
    return high > 9 || low > 9 ? 100 : high * 10 + low;
}

/* The day that ten bytes are. */
static int read_day(const char *s, int32_t *days) {
    uint32_t century = two_digits(s), rest = two_digits(s + 2);
    uint32_t month = two_digits(s + 5), day = two_digits(s + 8);
    if (century > 99 || rest > 99 || month > 99 || day > 99 || s[4] != '-' || s[7] != '-')
        return CHUTE_DATE_SYNTAX;
    uint32_t year = century * 100 + rest;
    if (month < 1 || month > 12 || day < 1 || day > month_days(year, month))
        return CHUTE_DATE_RANGE;
    *days = chute_days_from_civil((int32_t)year, month, day);
    return 0;
}

int chute_parse_date(const char *s, size_t n, int32_t *days) {
    return n == 10 ? read_day(s, days) : CHUTE_DATE_SYNTAX;
}

/* ---- the hour ------------------------------------------------------------------------------ */

static int64_t to_utc(const chute_zone *zone, int64_t local) {
    return zone ? chute_zone_to_utc(zone, local) : local;
}

/* Reads "YYYY-MM-DD?HH" as seconds of a clock that shows it, in UTC. */
static int read_hour(const char *s, int64_t *local) {
    int32_t days;
    int code = read_day(s, &days);
    if (code < 0) return code;
    uint32_t hour = two_digits(s + 11);
    if ((s[10] | 32) != 't' && s[10] != ' ') return CHUTE_DATE_SYNTAX;
    if (hour > 99) return CHUTE_DATE_SYNTAX;
    if (hour > 23) return CHUTE_DATE_RANGE;
    *local = (int64_t)days * 86400 + (int64_t)hour * 3600;
    return 0;
}

static void remember(struct chute_date_cache *cache, const chute_zone *zone, const char *s,
                     int64_t local) {
    memcpy(cache->text, s, HOUR_TEXT);
    cache->local = local;
    cache->start = to_utc(zone, local);
    cache->steady = to_utc(zone, local + 3599) == cache->start + 3599;
    cache->seen = true;
}

/* ---- what follows the hour ----------------------------------------------------------------- */

struct tail {
    uint32_t seconds; /* into the hour */
    int64_t fraction; /* in ticks */
    bool has_offset;
    int32_t offset; /* seconds east */
};

/* Digits after the point as ticks, those past the scale left out. The bytes read, or 0. */
static size_t read_fraction(const char *s, size_t n, uint32_t scale, int64_t *ticks, bool *more) {
    int64_t value = 0;
    size_t i = 0;
    for (; i < n && is_digit(s[i]); i++) {
        if (i < scale)
            value = value * 10 + (s[i] - '0');
        else
            *more |= s[i] != '0';
    }
    *ticks = i < scale ? value * POWERS[scale - i] : value;
    return i;
}

/* "Z", +HH, +HHMM or +HH:MM to the end of the text. */
static int read_offset(const char *s, size_t n, struct tail *tail) {
    tail->has_offset = true;
    if (n == 1 && (s[0] | 32) == 'z') return 0;
    if ((s[0] != '+' && s[0] != '-') || (n != 3 && n != 5 && n != 6)) return CHUTE_DATE_SYNTAX;
    uint32_t hours = two_digits(s + 1), minutes = n == 3 ? 0 : two_digits(s + n - 2);
    if (hours > 99 || minutes > 99 || (n == 6 && s[3] != ':')) return CHUTE_DATE_SYNTAX;
    if (hours > 23 || minutes > 59) return CHUTE_DATE_RANGE;
    int32_t seconds = (int32_t)(hours * 3600 + minutes * 60);
    tail->offset = s[0] == '-' ? -seconds : seconds;
    return 0;
}

/* :MM[:SS[.fraction]][offset] */
static int read_tail(const char *s, size_t n, uint32_t scale, struct tail *tail) {
    if (n < 3 || s[0] != ':') return CHUTE_DATE_SYNTAX;
    uint32_t minutes = two_digits(s + 1), seconds = 0;
    size_t at = 3;
    if (n >= 6 && s[3] == ':') {
        seconds = two_digits(s + 4);
        at = 6;
    }
    if (minutes > 99 || seconds > 99) return CHUTE_DATE_SYNTAX;
    if (minutes > 59 || seconds > 59) return CHUTE_DATE_RANGE;
    tail->seconds = minutes * 60 + seconds;
    if (at == 6 && at < n && (s[at] == '.' || s[at] == ',')) {
        bool more = false;
        size_t digits = read_fraction(s + at + 1, n - at - 1, scale, &tail->fraction, &more);
        if (digits == 0) return CHUTE_DATE_SYNTAX;
        at += 1 + digits;
    }
    return at == n ? 0 : read_offset(s + at, n - at, tail);
}

/* ---- date and time ------------------------------------------------------------------------- */

static int to_ticks(int64_t seconds, int64_t fraction, uint32_t scale, int64_t *ticks) {
    int64_t result;
    if (__builtin_mul_overflow(seconds, POWERS[scale], &result) ||
        __builtin_add_overflow(result, fraction, &result))
        return CHUTE_DATE_RANGE;
    *ticks = result;
    return 0;
}

static int parse_midnight(const char *s, const chute_zone *zone, uint32_t scale, int64_t *ticks) {
    int32_t days;
    int code = read_day(s, &days);
    if (code < 0) return code;
    return to_ticks(to_utc(zone, (int64_t)days * 86400), 0, scale, ticks);
}

int chute_parse_datetime(const char *s, size_t n, const chute_zone *zone, uint32_t scale,
                         struct chute_date_cache *cache, int64_t *ticks) {
    struct tail tail = {0, 0, false, 0};
    struct chute_date_cache fresh;
    if (n == 10) return parse_midnight(s, zone, scale, ticks);
    if (n < HOUR_TEXT) return CHUTE_DATE_SYNTAX;
    int code = read_tail(s + HOUR_TEXT, n - HOUR_TEXT, scale, &tail);
    if (code < 0) return code;
    bool hit = cache && cache->seen && memcmp(cache->text, s, HOUR_TEXT) == 0;
    if (!hit) {
        if (!cache) cache = &fresh;
        int64_t local;
        if ((code = read_hour(s, &local)) < 0) return code;
        remember(cache, zone, s, local);
    }
    int64_t seconds;
    if (tail.has_offset)
        seconds = cache->local + tail.seconds - tail.offset;
    else if (cache->steady)
        seconds = cache->start + tail.seconds;
    else
        seconds = to_utc(zone, cache->local + tail.seconds);
    return to_ticks(seconds, tail.fraction, scale, ticks);
}

/* ---- time ---------------------------------------------------------------------------------- */

/* H…:MM:SS, at least eight bytes less two hours' digits. The bytes read, or a negative code. */
static int read_clock(const char *s, size_t n, int64_t *seconds) {
    uint32_t hours = 0;
    size_t at = 0;
    for (; at < n && at < 3 && is_digit(s[at]); at++) hours = hours * 10 + (uint32_t)(s[at] - '0');
    if (at == 0 || n - at < 6 || s[at] != ':' || s[at + 3] != ':') return CHUTE_DATE_SYNTAX;
    uint32_t minutes = two_digits(s + at + 1), rest = two_digits(s + at + 4);
    if (minutes > 99 || rest > 99) return CHUTE_DATE_SYNTAX;
    if (minutes > 59 || rest > 59) return CHUTE_DATE_RANGE;
    *seconds = (int64_t)hours * 3600 + minutes * 60 + rest;
    return (int)at + 6;
}

int chute_parse_time(const char *s, size_t n, uint32_t scale, int64_t *ticks) {
    bool negative = n > 0 && s[0] == '-', more = false;
    size_t sign = n > 0 && (s[0] == '-' || s[0] == '+');
    int64_t seconds, fraction = 0;
    int read = read_clock(s + sign, n - sign, &seconds);
    if (read < 0) return read;
    size_t at = sign + (size_t)read;
    if (at < n && (s[at] == '.' || s[at] == ',')) {
        size_t digits = read_fraction(s + at + 1, n - at - 1, scale, &fraction, &more);
        if (digits == 0) return CHUTE_DATE_SYNTAX;
        at += 1 + digits;
    }
    if (at != n) return CHUTE_DATE_SYNTAX;
    int64_t value = seconds * POWERS[scale] + fraction;
    if (negative) value = -value - more;
    if (value <= -TIME_END * POWERS[scale]) return CHUTE_DATE_RANGE; /* floored past the end */
    *ticks = value;
    return 0;
}
