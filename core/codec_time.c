/* Codecs of Date, Date32, DateTime, DateTime64, Time and Time64.
 *
 * Text is an instant or a day as written; a plain number counts `unit`s since 1970-01-01 UTC.
 * Ranges are ClickHouse's documented ones, which it does not check in binary itself. */
#include "codec.h"
#include "date.h"
#include "error.h"
#include "number.h"
#include "wire.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int64_t DAY = 86400;
static const int64_t FIRST_SECOND = -2208988800; /* 1900-01-01 00:00:00 */
static const int64_t LAST_SECOND = 10413791999;  /* 2299-12-31 23:59:59 */
static const int64_t POWERS[] = {1,      10,      100,      1000,      10000,
                                 100000, 1000000, 10000000, 100000000, 1000000000};

static int64_t floor_div(int64_t value, int64_t by) {
    return value / by - (value % by < 0);
}

/* ---- numbers ------------------------------------------------------------------------------- */

/* A number of units since the epoch, as whole seconds and the ticks of `scale` above them. */
struct instant {
    int64_t seconds;
    int64_t ticks;
};

static bool from_integer(int64_t value, uint32_t unit, uint32_t scale, bool nearest,
                         struct instant *out) {
    int64_t per_second = POWERS[unit];
    out->seconds = floor_div(value, per_second);
    int64_t rest = value % per_second;
    if (rest < 0) rest += per_second;
    if (scale >= unit) {
        out->ticks = rest * POWERS[scale - unit];
    } else {
        int64_t by = POWERS[unit - scale];
        out->ticks = (rest + (nearest ? by / 2 : 0)) / by;
    }
    return true;
}

/* The whole part is exact in a double, and what is left of it is, so that a tick of 9 digits is
 * rounded once, not at each step. */
static bool from_double(double value, uint32_t unit, uint32_t scale, bool nearest,
                        struct instant *out) {
    if (!(fabs(value) < 9.2e18)) return false;
    double whole = floor(value);
    if (!from_integer((int64_t)whole, unit, unit, false, out)) return false;
    double rest = (double)out->ticks + (value - whole);
    double ticks = rest * (double)POWERS[scale] / (double)POWERS[unit];
    out->ticks = (int64_t)floor(nearest ? ticks + 0.5 : ticks);
    return true;
}

static bool read_number(const chute_codec *codec, const chute_cell *cell, uint32_t scale,
                        bool nearest, struct instant *out) {
    switch (cell->kind) {
    case CHUTE_CELL_NUMBER: return from_double(cell->num, codec->unit, scale, nearest, out);
    case CHUTE_CELL_UINT64:
        if (cell->u64 > INT64_MAX) return false;
        return from_integer((int64_t)cell->u64, codec->unit, scale, nearest, out);
    case CHUTE_CELL_INT64: return from_integer(cell->i64, codec->unit, scale, nearest, out);
    default: return false;
    }
}

static bool is_number(const chute_cell *cell) {
    return cell->kind >= CHUTE_CELL_NUMBER && cell->kind <= CHUTE_CELL_UINT64;
}

/* ---- Date, Date32 -------------------------------------------------------------------------- */

/* Text with a time of day is the day that its zone's clock shows. */
static bool text_days(const chute_codec *codec, const chute_cell *cell, int64_t *days) {
    int32_t day;
    if (chute_parse_date(cell->ptr, cell->len, &day) == CHUTE_OK) {
        *days = day;
        return true;
    }
    int64_t seconds;
    if (chute_parse_datetime(cell->ptr, cell->len, codec->zone, 0, codec->cache, &seconds) !=
        CHUTE_OK)
        return false;
    *days = floor_div(seconds + chute_zone_offset_at(codec->zone, seconds), DAY);
    return true;
}

static uint8_t *put_date(const chute_codec *codec, chute_row *row, const chute_cell *cell,
                         uint8_t *out) {
    int64_t days;
    struct instant at;
    if (cell->kind == CHUTE_CELL_STRING) {
        if (!text_days(codec, cell, &days)) return chute_row_refuse(row, cell, " is not a date");
    } else if (!is_number(cell)) {
        return chute_row_refuse(row, cell, " is not a date");
    } else if (read_number(codec, cell, 0, false, &at)) {
        days = floor_div(at.seconds, DAY);
    } else {
        return chute_row_refuse(row, cell, " is out of range for %s", codec->type->name);
    }
    if (days < codec->min || days > (int64_t)codec->max)
        return chute_row_refuse(row, cell, " is out of range for %s (%s)", codec->type->name,
                                codec->width == 2 ? "1970-01-01 to 2149-06-06"
                                                  : "1900-01-01 to 2299-12-31");
    return chute_put_int(out, (uint64_t)days, codec->width);
}

/* ---- DateTime, DateTime64 ------------------------------------------------------------------ */

static bool add_ticks(struct instant at, uint32_t scale, int64_t *out) {
    return !__builtin_mul_overflow(at.seconds, POWERS[scale], out) &&
           !__builtin_add_overflow(*out, at.ticks, out);
}

/* Whether a text tells an instant at all, be it past 64 bits of the column's ticks. */
static bool is_instant(const chute_codec *codec, const chute_cell *cell) {
    int64_t seconds;
    return chute_parse_datetime(cell->ptr, cell->len, codec->zone, 0, NULL, &seconds) == CHUTE_OK;
}

static uint8_t *put_datetime(const chute_codec *codec, chute_row *row, const chute_cell *cell,
                             uint8_t *out) {
    int64_t ticks;
    struct instant at;
    bool known = true;
    if (cell->kind == CHUTE_CELL_STRING) {
        int rc = chute_parse_datetime(cell->ptr, cell->len, codec->zone, codec->scale, codec->cache,
                                      &ticks);
        known = rc == CHUTE_OK;
        if (!known && !is_instant(codec, cell))
            return chute_row_refuse(row, cell, " is not a date and time");
    } else if (is_number(cell)) {
        bool nearest = codec->type->kind == CHUTE_TYPE_DATETIME64;
        known = read_number(codec, cell, codec->scale, nearest, &at) &&
                add_ticks(at, codec->scale, &ticks);
    } else {
        return chute_row_refuse(row, cell, " is not a date and time");
    }
    if (!known || ticks < codec->min || ticks > (int64_t)codec->max)
        return chute_row_refuse(row, cell, " is out of range for %s (%s)", codec->type->name,
                                codec->width == 4   ? "1970-01-01 to 2106-02-07 06:28:15"
                                : codec->scale == 9 ? "1900-01-01 to 2262-04-11 23:47:16"
                                                    : "1900-01-01 to 2299-12-31");
    return chute_put_int(out, (uint64_t)ticks, codec->width);
}

/* ---- Time, Time64 -------------------------------------------------------------------------- */

static uint8_t *put_time(const chute_codec *codec, chute_row *row, const chute_cell *cell,
                         uint8_t *out) {
    int64_t ticks;
    struct instant at;
    bool known = true;
    if (cell->kind == CHUTE_CELL_STRING) {
        known = chute_parse_time(cell->ptr, cell->len, codec->scale, &ticks) == CHUTE_OK;
        if (!known && chute_parse_time(cell->ptr, cell->len, 9, &ticks) != CHUTE_OK)
            return chute_row_refuse(row, cell, " is not a time"); /* nor one floored too far */
    } else if (is_number(cell)) {
        bool nearest = codec->type->kind == CHUTE_TYPE_TIME64;
        known = read_number(codec, cell, codec->scale, nearest, &at) &&
                add_ticks(at, codec->scale, &ticks);
    } else {
        return chute_row_refuse(row, cell, " is not a time");
    }
    if (!known || ticks < codec->min || ticks > (int64_t)codec->max)
        return chute_row_refuse(row, cell, " is out of range for %s (-999:59:59 to 999:59:59)",
                                codec->type->name);
    return chute_put_int(out, (uint64_t)ticks, codec->width);
}

/* ---- binding ------------------------------------------------------------------------------- */

static int bind_zone(chute_codec *codec, const struct chute_codec_options *options,
                     chute_error *err) {
    const char *zone = codec->type->zone ? codec->type->zone : options->zone;
    size_t len = codec->type->zone ? strlen(codec->type->zone) : options->zone_len;
    codec->unit = options->unit;
    codec->zone = chute_zone_open(zone, len, err);
    if (!codec->zone) return CHUTE_E_SCHEMA;
    codec->cache = calloc(1, sizeof *codec->cache);
    return codec->cache ? CHUTE_OK : chute_fail(err, CHUTE_E_NOMEM, "out of memory");
}

int chute_bind_date(chute_codec *codec, const struct chute_codec_options *options,
                    chute_error *err) {
    bool narrow = codec->type->kind == CHUTE_TYPE_DATE;
    codec->put = put_date;
    codec->name = narrow ? "date" : "date32";
    codec->width = codec->type->width;
    codec->bound = 8;
    codec->min = narrow ? 0 : FIRST_SECOND / DAY;
    codec->max = narrow ? UINT16_MAX : (uint64_t)(LAST_SECOND / DAY);
    return bind_zone(codec, options, err);
}

/* A number in the wire's own unit is its wire form, if it is whole. */
static void bind_fast(chute_codec *codec) {
    const double exact = 9007199254740992.0;
    if (codec->unit != codec->scale) return;
    codec->fuse = CHUTE_FUSE_INTEGER;
    codec->low = fmax((double)codec->min, -exact);
    codec->high = fmin((double)codec->max, exact);
}

int chute_bind_datetime(chute_codec *codec, const struct chute_codec_options *options,
                        chute_error *err) {
    bool narrow = codec->type->kind == CHUTE_TYPE_DATETIME;
    codec->put = put_datetime;
    codec->name = narrow ? "datetime" : "datetime64";
    codec->width = codec->type->width;
    codec->bound = 8;
    codec->scale = narrow ? 0 : codec->type->precision;
    codec->min = narrow ? 0 : FIRST_SECOND * POWERS[codec->scale];
    codec->max = UINT32_MAX;
    if (!narrow) {
        int64_t last;
        bool wide = __builtin_mul_overflow(LAST_SECOND + 1, POWERS[codec->scale], &last);
        codec->max = wide ? INT64_MAX : (uint64_t)(last - 1);
    }
    int rc = bind_zone(codec, options, err);
    if (rc == CHUTE_OK) bind_fast(codec);
    return rc;
}

/* The last tick before 1000 hours, either way. */
int chute_bind_time(chute_codec *codec, const struct chute_codec_options *options,
                    chute_error *err) {
    (void)err;
    bool narrow = codec->type->kind == CHUTE_TYPE_TIME;
    codec->put = put_time;
    codec->name = narrow ? "time" : "time64";
    codec->width = codec->type->width;
    codec->bound = 8;
    codec->unit = options->unit;
    codec->scale = narrow ? 0 : codec->type->precision;
    codec->max = (uint64_t)(1000 * 3600 * POWERS[codec->scale] - 1);
    codec->min = -(int64_t)codec->max;
    bind_fast(codec);
    return CHUTE_OK;
}
