#include "meter.h"

/* Bucket i holds times of up to 4^i ms. */
void chute_timer_add(struct chute_timer *timer, uint64_t ms) {
    uint32_t bucket = 0;
    while (bucket < CHUTE_TIME_BUCKETS && ms > (uint64_t)1 << 2 * bucket) bucket++;
    atomic_fetch_add(&timer->counts[bucket], 1);
    atomic_fetch_add(&timer->total_ms, ms);
}

static void read_timer(const struct chute_timer *timer, chute_histogram *out) {
    out->count = 0;
    for (uint32_t i = 0; i <= CHUTE_TIME_BUCKETS; i++) {
        out->count += atomic_load(&timer->counts[i]);
        if (i < CHUTE_TIME_BUCKETS) out->up_to[i] = out->count;
    }
    out->total_ms = atomic_load(&timer->total_ms);
}

void chute_meter_read(const chute_meter *meter, chute_pool_stats *out) {
    for (uint32_t i = 0; i < 4; i++) out->requests[i] = atomic_load(&meter->requests[i]);
    out->bytes_raw = atomic_load(&meter->bytes_raw);
    out->bytes_sent = atomic_load(&meter->bytes_sent);
    read_timer(&meter->wait, &out->wait);
    read_timer(&meter->compress, &out->compress);
    read_timer(&meter->send, &out->send);
}
