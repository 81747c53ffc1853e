#include "cityhash.h"

#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "chute encodes in the byte order of its host, which must be little-endian"
#endif

static const uint64_t K0 = UINT64_C(0xc3a5c85c97cb3127);
static const uint64_t K1 = UINT64_C(0xb492b66fbe98f273);
static const uint64_t K2 = UINT64_C(0x9ae16a3b2f90404f);
static const uint64_t K3 = UINT64_C(0xc949d7c7509e6557);

/* The state of the long form: two pairs and three words. */
struct state {
    chute_hash128 v, w;
    uint64_t x, y, z;
};

static uint64_t word(const uint8_t *s) {
    uint64_t value;
    memcpy(&value, s, sizeof value);
    return value;
}

static uint64_t half_word(const uint8_t *s) {
    uint32_t value;
    memcpy(&value, s, sizeof value);
    return value;
}

static uint64_t rotate(uint64_t value, unsigned by) {
    return by == 0 ? value : value >> by | value << (64 - by);
}

static uint64_t mix(uint64_t value) {
    return value ^ value >> 47;
}

/* Two words into one, by Murmur's multiplier. */
static uint64_t fold(uint64_t low, uint64_t high) {
    const uint64_t by = UINT64_C(0x9ddfea08eb382d69);
    uint64_t a = mix((low ^ high) * by);
    return mix((high ^ a) * by) * by;
}

static uint64_t hash_up_to_16(const uint8_t *s, size_t len) {
    if (len > 8) {
        uint64_t last = word(s + len - 8);
        return fold(word(s), rotate(last + len, (unsigned)len)) ^ last;
    }
    if (len >= 4) return fold(len + (half_word(s) << 3), half_word(s + len - 4));
    if (len == 0) return K2;
    uint64_t y = s[0] + ((uint64_t)s[len / 2] << 8);
    uint64_t z = len + ((uint64_t)s[len - 1] << 2);
    return mix(y * K2 ^ z * K3) * K2;
}

/* 32 bytes and two seeds into a pair: fast and weak. */
static chute_hash128 hash_32(const uint8_t *s, uint64_t a, uint64_t b) {
    uint64_t first = word(s), last = word(s + 24);
    a += first;
    b = rotate(b + a + last, 21);
    uint64_t start = a;
    a += word(s + 8) + word(s + 16);
    b += rotate(a, 44);
    return (chute_hash128){a + last, b + start};
}

static chute_hash128 hash_short(const uint8_t *s, size_t len, uint64_t a, uint64_t b) {
    uint64_t c, d;
    if (len <= 16) {
        a = mix(a * K1) * K1;
        c = b * K1 + hash_up_to_16(s, len);
        d = mix(a + (len >= 8 ? word(s) : c));
    } else {
        c = fold(word(s + len - 8) + K1, a);
        d = fold(b + len, c + word(s + len - 16));
        a += d;
        for (size_t at = 0; at + 16 < len; at += 16) {
            a = (a ^ mix(word(s + at) * K1) * K1) * K1;
            b ^= a;
            c = (c ^ mix(word(s + at + 8) * K1) * K1) * K1;
            d ^= c;
        }
    }
    a = fold(a, c);
    b = fold(d, b);
    return (chute_hash128){a ^ b, fold(b, a)};
}

static void take_64(struct state *st, const uint8_t *s) {
    uint64_t x = rotate(st->x + st->y + st->v.low + word(s + 16), 37) * K1;
    uint64_t y = rotate(st->y + st->v.high + word(s + 48), 42) * K1;
    x ^= st->w.high;
    y ^= st->v.low;
    uint64_t z = rotate(st->z ^ st->w.low, 33);
    st->v = hash_32(s, st->v.high * K1, x + st->w.low);
    st->w = hash_32(s + 32, z + st->w.high, y);
    st->x = z;
    st->y = y;
    st->z = x;
}

/* The last `left` (under 128) bytes before `end`, in steps of 32 from the back. The steps may
 * reach back into bytes already taken. */
static void take_tail(struct state *st, const uint8_t *end, size_t left) {
    for (size_t done = 0; done < left;) {
        done += 32;
        st->y = rotate(st->y - st->x, 42) * K0 + st->v.high;
        st->w.low += word(end - done + 16);
        st->x = rotate(st->x, 49) * K0 + st->w.low;
        st->w.low += st->v.low;
        st->v = hash_32(end - done, st->v.low, st->v.high);
    }
}

static chute_hash128 hash_long(const uint8_t *s, size_t len, uint64_t a, uint64_t b) {
    struct state st = {.x = a, .y = b, .z = len * K1};
    st.v.low = rotate(b ^ K1, 49) * K1 + word(s);
    st.v.high = rotate(st.v.low, 42) * K1 + word(s + 8);
    st.w.low = rotate(b + st.z, 35) * K1 + a;
    st.w.high = rotate(a + word(s + 88), 53) * K1;

    size_t whole = len - len % 128;
    for (size_t at = 0; at < whole; at += 64) take_64(&st, s + at);
    st.y += rotate(st.w.low, 37) * K0 + st.z;
    st.x += rotate(st.v.low + st.z, 49) * K0;
    take_tail(&st, s + len, len - whole);

    st.x = fold(st.x, st.v.low);
    st.y = fold(st.y, st.w.low);
    return (chute_hash128){fold(st.x + st.v.high, st.w.high) + st.y,
                           fold(st.x + st.w.high, st.y + st.v.high)};
}

static chute_hash128 hash_seeded(const uint8_t *s, size_t len, uint64_t a, uint64_t b) {
    return len < 128 ? hash_short(s, len, a, b) : hash_long(s, len, a, b);
}

chute_hash128 chute_cityhash128(const void *bytes, size_t len) {
    const uint8_t *s = bytes;
    if (len >= 16) return hash_seeded(s + 16, len - 16, word(s) ^ K3, word(s + 8));
    if (len >= 8) return hash_seeded(NULL, 0, word(s) ^ len * K0, word(s + len - 8) ^ K1);
    return hash_seeded(s, len, K0, K1);
}
