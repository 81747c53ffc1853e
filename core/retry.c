#include "retry.h"

#include <sys/random.h>

enum { BASE_MS = 100, MAX_MS = 30000, LEAST_MAX_MS = 300 * 1000 };

uint64_t chute_random(uint64_t below) {
    uint64_t bits;
    if (below < 2 || getrandom(&bits, sizeof bits, 0) != sizeof bits) return 0;
    return bits % below; /* of so many bits the bias is none to speak of */
}

uint64_t chute_retry_delay(const chute_retry *retry, uint32_t attempts) {
    uint64_t max = retry->max_ms ? retry->max_ms : MAX_MS;
    uint64_t ceiling = retry->base_ms ? retry->base_ms : BASE_MS;
    for (uint32_t i = 1; i < attempts && ceiling < max; i++) ceiling *= 2;
    return chute_random((ceiling < max ? ceiling : max) + 1);
}

bool chute_retry_next(const chute_retry *retry, const struct chute_tries *tries, uint64_t now_ms,
                      uint64_t least_ms, uint64_t *due_ms) {
    if (retry->attempts && tries->attempts >= retry->attempts) return false;
    uint64_t delay = chute_retry_delay(retry, tries->attempts);
    if (least_ms > LEAST_MAX_MS) least_ms = LEAST_MAX_MS;
    *due_ms = now_ms + (delay > least_ms ? delay : least_ms);
    if (!retry->deadline_ms) return true;
    uint64_t deadline = tries->first_ms + retry->deadline_ms;
    if (*due_ms > deadline) *due_ms = deadline;
    return now_ms < deadline;
}
