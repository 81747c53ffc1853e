/* retry: whether a batch that failed goes again, and when. */
#ifndef CHUTE_RETRY_H
#define CHUTE_RETRY_H

#include <stdbool.h>
#include <stdint.h>

/* A zero asks for the default, or for no limit. */
typedef struct chute_retry {
    uint32_t attempts;    /* at most, the first one included; 0: no limit */
    uint32_t deadline_ms; /* from the first attempt on; 0: none */
    uint32_t base_ms;     /* 0: 100 */
    uint32_t max_ms;      /* 0: 30000 */
} chute_retry;

/* What became of the attempts so far. */
struct chute_tries {
    uint32_t attempts;
    uint64_t first_ms; /* when the first began */
};

/* A number from 0 to `below` - 1, each as likely; 0 where the system has no randomness. */
uint64_t chute_random(uint64_t below);

/* Milliseconds to wait after that many attempts: full jitter, uniform up to base·2^(attempts-1)
 * or the maximum. */
uint64_t chute_retry_delay(const chute_retry *retry, uint32_t attempts);

/* Whether there is to be another attempt; `*due_ms` then: not before `least_ms` from now, where the
 * server asked for it, but no later than the deadline. */
bool chute_retry_next(const chute_retry *retry, const struct chute_tries *tries, uint64_t now_ms,
                      uint64_t least_ms, uint64_t *due_ms);

#endif
