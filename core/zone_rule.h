/* zone_rule: the rule by which a zone goes on for ever: POSIX's TZ text, as the footer of a TZif
 * file has it ("CET-1CEST,M3.5.0,M10.5.0/3"), with RFC 8536's hours from -167 to 167. */
#ifndef CHUTE_ZONE_RULE_H
#define CHUTE_ZONE_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chute_zone_day {
    enum { CHUTE_DAY_JULIAN, CHUTE_DAY_ZERO, CHUTE_DAY_WEEK } form; /* Jn, n, Mm.w.d */
    int32_t day;   /* of the year from 1 (29 February never counts), from 0, or of the week */
    int32_t month; /* WEEK: from 1 */
    int32_t week;  /* WEEK: from 1, 5 is the last */
    int32_t time;  /* seconds of the local clock past that day's midnight */
};

struct chute_zone_rule {
    int32_t standard; /* offsets in seconds east */
    int32_t summer;
    bool has_summer;
    struct chute_zone_day start; /* of summer time, on the standard clock */
    struct chute_zone_day end;   /* on the summer clock */
};

bool chute_zone_rule_parse(const char *text, size_t len, struct chute_zone_rule *rule);
int32_t chute_zone_rule_at(const struct chute_zone_rule *rule, int64_t utc_seconds);

#endif
