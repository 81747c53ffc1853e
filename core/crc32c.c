#include "crc32c.h"

#include <pthread.h>
#include <string.h>

static uint32_t table[8][256];
static uint32_t (*best)(uint32_t crc, const uint8_t *at, size_t len);
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Eight bytes a step, one table for each. */
static uint32_t by_tables(uint32_t crc, const uint8_t *at, size_t len) {
    for (; len >= 8; at += 8, len -= 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        word ^= crc;
        crc = 0;
        for (unsigned i = 0; i < 8; i++) crc ^= table[7 - i][(word >> 8 * i) & 255];
    }
    for (; len; len--) crc = crc >> 8 ^ table[0][(crc ^ *at++) & 255];
    return crc;
}

#ifdef __x86_64__
#include <nmmintrin.h>

__attribute__((target("sse4.2"))) static uint32_t by_instruction(uint32_t crc, const uint8_t *at,
                                                                 size_t len) {
    uint64_t wide = crc;
    for (; len >= 8; at += 8, len -= 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        wide = _mm_crc32_u64(wide, word);
    }
    crc = (uint32_t)wide;
    for (; len; len--) crc = _mm_crc32_u8(crc, *at++);
    return crc;
}
#endif

static void choose(void) {
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0x82F63B78u : 0);
        table[0][i] = crc;
    }
    for (uint32_t i = 0; i < 256; i++)
        for (int k = 1; k < 8; k++)
            table[k][i] = table[k - 1][i] >> 8 ^ table[0][table[k - 1][i] & 255];
    best = by_tables;
#ifdef __x86_64__
    if (__builtin_cpu_supports("sse4.2")) best = by_instruction;
#endif
}

uint32_t chute_crc32c(uint32_t crc, const void *bytes, size_t len) {
    pthread_once(&once, choose);
    return ~best(~crc, bytes, len);
}
