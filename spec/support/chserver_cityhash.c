/* CityHash128 as it was in version 1.0.2, which ClickHouse's compressed blocks are checked with.
 * Later versions of CityHash give other values. Little-endian machines only. */
#include "chserver.h"

#include <string.h>

static const uint64_t K0 = 0xc3a5c85c97cb3127, K1 = 0xb492b66fbe98f273, K2 = 0x9ae16a3b2f90404f,
                      K3 = 0xc949d7c7509e6557;

struct pair {
    uint64_t a, b;
};

static uint64_t u64_at(const char *s) {
    uint64_t v;
    memcpy(&v, s, sizeof v);
    return v;
}

static uint64_t u32_at(const char *s) {
    uint32_t v;
    memcpy(&v, s, sizeof v);
    return v;
}

static uint64_t rotated(uint64_t v, unsigned by) {
    return by == 0 ? v : (v >> by) | (v << (64 - by));
}

static uint64_t folded(uint64_t v) {
    return v ^ (v >> 47);
}

static uint64_t mixed(uint64_t u, uint64_t v) {
    const uint64_t mul = 0x9ddfea08eb382d69;
    uint64_t a = folded((u ^ v) * mul);
    return folded((v ^ a) * mul) * mul;
}

static uint64_t of_short(const char *s, size_t len) {
    if (len > 8) {
        uint64_t a = u64_at(s), b = u64_at(s + len - 8);
        return mixed(a, rotated(b + len, (unsigned)len)) ^ b;
    }
    if (len >= 4) return mixed(len + (u32_at(s) << 3), u32_at(s + len - 4));
    if (len == 0) return K2;
    const unsigned char *u = (const unsigned char *)s;
    uint64_t y = u[0] + ((uint64_t)u[len / 2] << 8), z = len + ((uint64_t)u[len - 1] << 2);
    return folded((y * K2) ^ (z * K3)) * K2;
}

static struct pair weak32(const char *s, uint64_t a, uint64_t b) {
    uint64_t first = u64_at(s), last = u64_at(s + 24), sum = a + first;
    b = rotated(b + sum + last, 21);
    uint64_t total = sum + u64_at(s + 8) + u64_at(s + 16);
    return (struct pair){total + last, b + rotated(total, 44) + sum};
}

/* Below 128 bytes. */
static struct pair murmur(const char *s, size_t len, struct pair seed) {
    uint64_t a = seed.a, b = seed.b, c, d;
    if (len <= 16) {
        a = folded(a * K1) * K1;
        c = b * K1 + of_short(s, len);
        d = folded(a + (len >= 8 ? u64_at(s) : c));
    } else {
        c = mixed(u64_at(s + len - 8) + K1, a);
        d = mixed(b + len, c + u64_at(s + len - 16));
        a += d;
        for (size_t left = len - 16;; left -= 16, s += 16) {
            a = (a ^ (folded(u64_at(s) * K1) * K1)) * K1;
            b ^= a;
            c = (c ^ (folded(u64_at(s + 8) * K1) * K1)) * K1;
            d ^= c;
            if (left <= 16) break;
        }
    }
    a = mixed(a, c);
    b = mixed(d, b);
    return (struct pair){a ^ b, mixed(b, a)};
}

struct state {
    struct pair v, w;
    uint64_t x, y, z;
};

static void round64(struct state *t, const char *s) {
    uint64_t x = rotated(t->x + t->y + t->v.a + u64_at(s + 16), 37) * K1;
    uint64_t y = rotated(t->y + t->v.b + u64_at(s + 48), 42) * K1;
    x ^= t->w.b;
    y ^= t->v.a;
    uint64_t z = rotated(t->z ^ t->w.a, 33);
    t->v = weak32(s, t->v.b * K1, x + t->w.a);
    t->w = weak32(s + 32, z + t->w.b, y);
    t->x = z;
    t->y = y;
    t->z = x;
}

static struct pair of_long(const char *s, size_t len, struct pair seed) {
    struct state t = {.x = seed.a, .y = seed.b, .z = len * K1};
    t.v.a = rotated(t.y ^ K1, 49) * K1 + u64_at(s);
    t.v.b = rotated(t.v.a, 42) * K1 + u64_at(s + 8);
    t.w.a = rotated(t.y + t.z, 35) * K1 + t.x;
    t.w.b = rotated(t.x + u64_at(s + 88), 53) * K1;
    for (; len >= 128; len -= 128, s += 128) {
        round64(&t, s);
        round64(&t, s + 64);
    }
    t.y += rotated(t.w.a, 37) * K0 + t.z;
    t.x += rotated(t.v.a + t.z, 49) * K0;
    /* The tail is read backwards in steps of 32 and may reach into bytes already hashed. */
    const char *end = s + len;
    for (size_t done = 32; done < len + 32; done += 32) {
        t.y = rotated(t.y - t.x, 42) * K0 + t.v.b;
        t.w.a += u64_at(end - done + 16);
        t.x = rotated(t.x, 49) * K0 + t.w.a;
        t.w.a += t.v.a;
        t.v = weak32(end - done, t.v.a, t.v.b);
    }
    uint64_t x = mixed(t.x, t.v.a), y = mixed(t.y, t.w.a);
    return (struct pair){mixed(x + t.v.b, t.w.b) + y, mixed(x + t.w.b, y + t.v.b)};
}

static struct pair seeded(const char *s, size_t len, struct pair seed) {
    return len < 128 ? murmur(s, len, seed) : of_long(s, len, seed);
}

void ch_cityhash128(const char *s, size_t len, uint64_t out[2]) {
    struct pair hash;
    if (len >= 16)
        hash = seeded(s + 16, len - 16, (struct pair){u64_at(s) ^ K3, u64_at(s + 8)});
    else if (len >= 8)
        hash = seeded("", 0, (struct pair){u64_at(s) ^ (len * K0), u64_at(s + len - 8) ^ K1});
    else
        hash = seeded(s, len, (struct pair){K0, K1});
    out[0] = hash.a;
    out[1] = hash.b;
}
