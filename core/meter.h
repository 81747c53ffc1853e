/* meter: what a pool counts of its work. Written by its threads, read by any. */
#ifndef CHUTE_METER_H
#define CHUTE_METER_H

#include "chute.h"

#include <stdatomic.h>

/* Times in a bucket each, by chute_histogram's bounds. */
struct chute_timer {
    _Atomic uint64_t counts[CHUTE_TIME_BUCKETS + 1]; /* the last: longer than all bounds */
    _Atomic uint64_t total_ms;
};

typedef struct chute_meter {
    _Atomic uint64_t requests[4];           /* attempts over, by CHUTE_METER_… */
    _Atomic uint64_t bytes_raw, bytes_sent; /* of bodies that were taken */
    struct chute_timer wait, compress, send;
} chute_meter;

void chute_timer_add(struct chute_timer *timer, uint64_t ms);
void chute_meter_read(const chute_meter *meter, chute_pool_stats *out);

#endif
