/* Days, instants and durations as text. */
#include "date.h"

#include "number.h"

#include <string.h>

enum { DAY_SECONDS = 86400, HOUR_SECONDS = 3600, MINUTE_SECONDS = 60, YEAR_DIGITS = 4 };

static const int64_t POWERS[] = {1,      10,      100,      1000,      10000,
                                 100000, 1000000, 10000000, 100000000, 1000000000};

static int64_t floor_div(int64_t value, int64_t by) {
    return value / by - (value % by < 0);
}

/* A number with at least `least` digits. */
static char *put_number(char *out, uint64_t number, size_t least) {
    char text[CHUTE_NUMBER_TEXT];
    size_t len = chute_format_u64(number, text);
    for (; len < least; least--) *out++ = '0';
    memcpy(out, text, len);
    return out + len;
}

static char *put_part(char *out, char before, int64_t number) {
    *out++ = before;
    return put_number(out, (uint64_t)number, 2);
}

static char *put_fraction(char *out, int64_t ticks, uint32_t scale) {
    if (scale == 0) return out;
    *out++ = '.';
    return put_number(out, (uint64_t)ticks, scale);
}

/* Days are counted in eras of 400 years that begin on 1 March, so that leap days come last. */
static char *put_date(char *out, int64_t days) {
    const int64_t era_days = 146097, march_first = 719468;
    days += march_first;
    int64_t era = floor_div(days, era_days), day = days - era * era_days;
    int64_t year = (day - day / 1460 + day / 36524 - day / (era_days - 1)) / 365;
    int64_t day_of_year = day - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * day_of_year + 2) / 153;
    day = day_of_year - (153 * month + 2) / 5 + 1;
    year += era * 400 + (month >= 10);
    month += month < 10 ? 3 : -9;
    if (year < 0) *out++ = '-';
    out = put_number(out, (uint64_t)(year < 0 ? -year : year), YEAR_DIGITS);
    return put_part(put_part(out, '-', month), '-', day);
}

size_t chute_format_date(int64_t days, char *out) {
    return (size_t)(put_date(out, days) - out);
}

static char *put_offset(char *out, int32_t offset) {
    int32_t away = offset < 0 ? -offset : offset;
    out = put_part(out, offset < 0 ? '-' : '+', away / HOUR_SECONDS);
    return put_part(out, ':', away % HOUR_SECONDS / MINUTE_SECONDS);
}

static char *put_clock(char *out, int64_t second) {
    out = put_part(out, ' ', second / HOUR_SECONDS);
    out = put_part(out, ':', second % HOUR_SECONDS / MINUTE_SECONDS);
    return put_part(out, ':', second % MINUTE_SECONDS);
}

size_t chute_format_datetime(int64_t ticks, uint32_t scale, struct chute_date_style style,
                             char *out) {
    int64_t seconds = floor_div(ticks, POWERS[scale]);
    int64_t rest = ticks % POWERS[scale];
    if (rest < 0) rest += POWERS[scale];
    int32_t offset = style.zone ? chute_zone_offset_at(style.zone, seconds) : 0;
    if (offset % MINUTE_SECONDS != 0) offset = 0;
    int64_t day = floor_div(seconds, DAY_SECONDS);
    int64_t second = seconds % DAY_SECONDS;
    second += (second < 0 ? DAY_SECONDS : 0) + offset;
    int64_t turn = floor_div(second, DAY_SECONDS);
    char *at = put_date(out, day + turn);
    at = put_clock(at, second - turn * DAY_SECONDS);
    at = put_fraction(at, rest, scale);
    if (style.offset) at = put_offset(at, offset);
    return (size_t)(at - out);
}

size_t chute_format_time(int64_t ticks, uint32_t scale, char *out) {
    char *at = out;
    if (ticks < 0) *at++ = '-';
    uint64_t away = ticks < 0 ? 0 - (uint64_t)ticks : (uint64_t)ticks;
    uint64_t seconds = away / (uint64_t)POWERS[scale];
    at = put_number(at, seconds / HOUR_SECONDS, 2);
    at = put_part(at, ':', (int64_t)(seconds % HOUR_SECONDS / MINUTE_SECONDS));
    at = put_part(at, ':', (int64_t)(seconds % MINUTE_SECONDS));
    at = put_fraction(at, (int64_t)(away % (uint64_t)POWERS[scale]), scale);
    return (size_t)(at - out);
}
