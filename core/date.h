/* date: civil dates and times as text. Pure functions, no allocation; texts are (pointer, length)
 * and may hold any bytes. All return 0 and write the answer, or a CHUTE_DATE_… code and write
 * nothing. The calendar is Gregorian throughout, years 0000 to 9999, no leap seconds (a second
 * of 60 is refused).
 */
#ifndef CHUTE_DATE_H
#define CHUTE_DATE_H

#include "zone.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CHUTE_DATE_SYNTAX = -1, /* no date or time in a form that is taken */
    CHUTE_DATE_RANGE = -2,  /* well formed, but no such day or hour, or past 64 bits of ticks */
};

/* Days since 1970-01-01 of a proleptic Gregorian date; month from 1, day from 1. */
int32_t chute_days_from_civil(int32_t year, uint32_t month, uint32_t day);

/* YYYY-MM-DD: four, two and two digits, a day that exists. */
int chute_parse_date(const char *s, size_t n, int32_t *days);

/* The last hour that a column saw: texts that begin with the same 13 bytes, "YYYY-MM-DD?HH", cost
 * a compare and an add. Zeroed: nothing seen. A cache belongs to one zone and one thread. */
struct chute_date_cache {
    char text[13];
    bool seen;
    bool steady;   /* the offset is the same throughout the hour: `start` can be added to */
    int64_t local; /* the hour's start in seconds, of a clock in UTC that shows it */
    int64_t start; /* its start as an instant */
};

/* ISO 8601: YYYY-MM-DD, or YYYY-MM-DD, 'T', 't' or a blank, HH:MM[:SS[.fraction]] (or a comma),
 * then nothing, or 'Z', 'z', or an offset +HH, +HHMM, +HH:MM (or '-'). Without offset the time is
 * the local one in `zone` (NULL: UTC): a repeated hour is taken as its first run, a skipped one
 * moves forward. `ticks` are since the epoch, 10^`scale` a second (0 to 9); digits past the scale
 * are floored. `cache` may be NULL. */
int chute_parse_datetime(const char *s, size_t n, const chute_zone *zone, uint32_t scale,
                         struct chute_date_cache *cache, int64_t *ticks);

/* [+-]H…:MM:SS[.fraction], hours of one to three digits, up to 999:59:59: a duration, in ticks of
 * 10^`scale` a second (0 to 9). Digits past the scale are floored. */
int chute_parse_time(const char *s, size_t n, uint32_t scale, int64_t *ticks);

/* Room for any text below. */
enum { CHUTE_DATE_TEXT = 64 };

/* These write without a NUL, at most CHUTE_DATE_TEXT bytes, and return the length. Years past 9999
 * have as many digits as they need, those before 0 a sign: no server writes such, but garbage is to
 * be seen as what it is. */

/* YYYY-MM-DD, of a day since 1970-01-01. */
size_t chute_format_date(int64_t days, char *out);

/* How an instant is to be written. */
struct chute_date_style {
    const chute_zone *zone; /* whose clock is shown; NULL: UTC */
    bool offset;            /* +HH:MM behind it: the text tells the instant by itself */
};

/* "YYYY-MM-DD HH:MM:SS[.fraction][+HH:MM]", of ticks of 10^`scale` a second, the fraction with
 * `scale` digits. Where a zone's offset has seconds, which no text has, UTC's clock is shown. */
size_t chute_format_datetime(int64_t ticks, uint32_t scale, struct chute_date_style style,
                             char *out);

/* [-]HH:MM:SS[.fraction], the hours with two digits, or as many as they need: what
 * chute_parse_time reads. */
size_t chute_format_time(int64_t ticks, uint32_t scale, char *out);

#endif
