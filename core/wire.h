/* wire: the small vocabulary that RowBinary is written in. Every function writes at `out` and
 * returns the place after what it wrote. The caller has reserved the room, and CHUTE_WIRE_SLACK
 * bytes more: short copies write whole vectors and only the place moves by the true length.
 *
 *   leb      │ 7 bits a byte, low first, high bit: more follow │
 *   string   │ leb length │ bytes │
 *   integers │ little-endian, two's complement │
 */
#ifndef CHUTE_WIRE_H
#define CHUTE_WIRE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "the wire is little-endian, and so are we");

enum { CHUTE_LEB_MAX = 10, CHUTE_SHORT = 32, CHUTE_WIRE_SLACK = CHUTE_SHORT };

/* A short copy reads up to 32 bytes from a source that may be shorter, never across a page:
 * no fault can come of it, but checkers that know each object's end must not see it. */
#if defined(__has_feature)
#define CHUTE_HAS_FEATURE(x) __has_feature(x)
#else
#define CHUTE_HAS_FEATURE(x) 0
#endif
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) &&      \
    !CHUTE_HAS_FEATURE(address_sanitizer) && !CHUTE_HAS_FEATURE(thread_sanitizer) &&               \
    !CHUTE_HAS_FEATURE(memory_sanitizer) && !defined(CHUTE_EXACT_READS)
#include <emmintrin.h>
#define CHUTE_WIDE_COPY 1
#else
#define CHUTE_WIDE_COPY 0
#endif

/* Whether chute_copy_short can copy it: most of what is short. */
static inline bool chute_is_short(const void *from, size_t len) {
    return len <= CHUTE_SHORT &&
           (!CHUTE_WIDE_COPY || ((uintptr_t)from & 4095) <= 4096 - CHUTE_SHORT);
}

static inline void chute_copy_short(uint8_t *out, const void *from, size_t len) {
#if CHUTE_WIDE_COPY
    const __m128i *source = (const __m128i *)from;
    __m128i low = _mm_loadu_si128(source);
    __m128i high = _mm_loadu_si128(source + 1);
    _mm_storeu_si128((__m128i *)(void *)out, low);
    _mm_storeu_si128((__m128i *)(void *)(out + 16), high);
    (void)len;
#else
    memcpy(out, from, len);
#endif
}

static inline void chute_copy(uint8_t *out, const void *from, size_t len) {
    if (chute_is_short(from, len))
        chute_copy_short(out, from, len);
    else
        memcpy(out, from, len);
}

static inline uint8_t *chute_put_bytes(uint8_t *out, const void *from, size_t len) {
    chute_copy(out, from, len);
    return out + len;
}

static inline uint8_t *chute_put_leb(uint8_t *out, uint64_t value) {
    while (value >= 0x80) {
        *out++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *out++ = (uint8_t)value;
    return out;
}

static inline uint8_t *chute_put_string(uint8_t *out, const void *from, size_t len) {
    return chute_put_bytes(chute_put_leb(out, len), from, len);
}

/* The low `width` (1 to 8) bytes of `value`; writes 8. */
static inline uint8_t *chute_put_int(uint8_t *out, uint64_t value, uint32_t width) {
    memcpy(out, &value, sizeof value);
    return out + width;
}

#endif
