#include "zone_rule.h"

#include "date.h"

#include <string.h>

struct reader {
    const char *at;
    const char *end;
};

static bool next_is(const struct reader *in, char c) {
    return in->at < in->end && *in->at == c;
}

static bool eat(struct reader *in, char c) {
    if (!next_is(in, c)) return false;
    in->at++;
    return true;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Up to three digits, from `low` to `high`. */
static bool read_number(struct reader *in, int32_t low, int32_t high, int32_t *out) {
    int32_t value = 0, digits = 0;
    while (in->at < in->end && is_digit(*in->at) && digits < 3) {
        value = value * 10 + (*in->at++ - '0');
        digits++;
    }
    *out = value;
    return digits > 0 && value >= low && value <= high;
}

/* The abbreviation: letters, or anything between < and >. */
static bool skip_name(struct reader *in) {
    const char *start = in->at;
    if (eat(in, '<')) {
        while (in->at < in->end && *in->at != '>') in->at++;
        return eat(in, '>');
    }
    while (in->at < in->end && is_letter(*in->at)) in->at++;
    return in->at - start >= 3;
}

/* [+-]h[:mm[:ss]] in seconds. */
static bool read_time(struct reader *in, int32_t hours_max, int32_t *out) {
    bool negative = eat(in, '-');
    int32_t hours, minutes = 0, seconds = 0;
    if (!negative) eat(in, '+');
    if (!read_number(in, 0, hours_max, &hours)) return false;
    if (eat(in, ':') && !read_number(in, 0, 59, &minutes)) return false;
    if (eat(in, ':') && !read_number(in, 0, 59, &seconds)) return false;
    int32_t total = hours * 3600 + minutes * 60 + seconds;
    *out = negative ? -total : total;
    return true;
}

/* POSIX counts offsets westwards. */
static bool read_offset(struct reader *in, int32_t *east) {
    if (!read_time(in, 24, east)) return false;
    *east = -*east;
    return true;
}

static bool read_week(struct reader *in, struct chute_zone_day *day) {
    day->form = CHUTE_DAY_WEEK;
    return read_number(in, 1, 12, &day->month) && eat(in, '.') &&
           read_number(in, 1, 5, &day->week) && eat(in, '.') && read_number(in, 0, 6, &day->day);
}

static bool read_day(struct reader *in, struct chute_zone_day *day) {
    bool good;
    day->time = 2 * 3600;
    if (eat(in, 'M')) {
        good = read_week(in, day);
    } else {
        bool julian = eat(in, 'J');
        day->form = julian ? CHUTE_DAY_JULIAN : CHUTE_DAY_ZERO;
        good = read_number(in, julian, 365, &day->day);
    }
    if (good && eat(in, '/')) good = read_time(in, 167, &day->time);
    return good;
}

bool chute_zone_rule_parse(const char *text, size_t len, struct chute_zone_rule *rule) {
    struct reader in = {text, text + len};
    memset(rule, 0, sizeof *rule);
    if (!skip_name(&in) || !read_offset(&in, &rule->standard)) return false;
    if (in.at == in.end) return true;
    rule->has_summer = true;
    rule->summer = rule->standard + 3600;
    if (!skip_name(&in)) return false;
    if (!next_is(&in, ',') && !read_offset(&in, &rule->summer)) return false;
    return eat(&in, ',') && read_day(&in, &rule->start) && eat(&in, ',') &&
           read_day(&in, &rule->end) && in.at == in.end;
}

/* ---- instants ----------------------------------------------------------------------------- */

static bool is_leap(int64_t year) {
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* Days since the epoch of the day that `day` is in a year that begins on `first`. */
static int64_t week_day(const struct chute_zone_day *day, int64_t first, bool leap) {
    static const int16_t before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};
    int32_t begin = before[day->month - 1] + (leap && day->month > 2);
    int32_t end = before[day->month] + (leap && day->month > 1);
    int64_t month = first + begin;
    int64_t weekday = ((month + 4) % 7 + 7) % 7; /* 1970-01-01 was a Thursday */
    int64_t offset = (day->day - weekday + 7) % 7 + (day->week - 1) * 7;
    return month + (offset >= end - begin ? offset - 7 : offset);
}

static int64_t day_of(const struct chute_zone_day *day, int64_t first, bool leap) {
    if (day->form == CHUTE_DAY_WEEK) return week_day(day, first, leap);
    if (day->form == CHUTE_DAY_ZERO) return first + day->day;
    return first + day->day - 1 + (leap && day->day >= 60);
}

int32_t chute_zone_rule_at(const struct chute_zone_rule *rule, int64_t utc_seconds) {
    const int64_t cycle = (int64_t)146097 * 86400; /* 400 years repeat to the second */
    if (!rule->has_summer) return rule->standard;
    int64_t local = utc_seconds % cycle + rule->standard;
    int64_t day = local / 86400 - (local % 86400 < 0);
    int64_t year = 1970 + day * 400 / 146097;
    while (chute_days_from_civil((int32_t)year, 1, 1) > day) year--;
    while (chute_days_from_civil((int32_t)year + 1, 1, 1) <= day) year++;
    int64_t first = chute_days_from_civil((int32_t)year, 1, 1), at = local - rule->standard;
    bool leap = is_leap(year);
    int64_t start = day_of(&rule->start, first, leap) * 86400 + rule->start.time - rule->standard;
    int64_t end = day_of(&rule->end, first, leap) * 86400 + rule->end.time - rule->summer;
    bool summer = start < end ? at >= start && at < end : at >= start || at < end;
    return summer ? rule->summer : rule->standard;
}
