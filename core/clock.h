/* clock: the monotonic one, in milliseconds. */
#ifndef CHUTE_CLOCK_H
#define CHUTE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define CHUTE_NEVER UINT64_MAX

static inline uint64_t chute_clock_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

#endif
