#include "block.h"
#include "check.h"
#include "compress.h"

#include <lz4frame.h>
#include <stdlib.h>
#include <zstd.h>

enum { BIG = 3 * CHUTE_BLOCK_RAW + 12345 };

static char *make_bytes(size_t len) {
    char *bytes = malloc(len ? len : 1);
    uint64_t state = len;
    for (size_t i = 0; i < len; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        bytes[i] = (char)(i % 3 ? 'a' : state >> 60);
    }
    return bytes;
}

/* Unpacks a run of blocks; the raw bytes' length, or -1. */
static int64_t unframe(const uint8_t *in, size_t len, uint8_t *raw, size_t room) {
    size_t at = 0, out = 0;
    while (at < len) {
        struct chute_block block;
        int64_t n = chute_block_find(in + at, len - at, &block, NULL);
        if (n <= 0 || block.raw_len > room - out) return -1;
        if (chute_block_unpack(&block, raw + out, NULL)) return -1;
        at += (size_t)n;
        out += block.raw_len;
    }
    return (int64_t)out;
}

static int64_t unzstd(const char *in, size_t len, char *raw, size_t room) {
    size_t n = ZSTD_decompress(raw, room, in, len); /* all frames, one after the other */
    return ZSTD_isError(n) ? -1 : (int64_t)n;
}

static int64_t unlz4(const char *in, size_t len, char *raw, size_t room) {
    LZ4F_dctx *ctx;
    size_t at = 0, out = 0;
    if (LZ4F_isError(LZ4F_createDecompressionContext(&ctx, LZ4F_VERSION))) return -1;
    while (at < len) {
        size_t in_len = len - at, out_len = room - out;
        if (LZ4F_isError(LZ4F_decompress(ctx, raw + out, &out_len, in + at, &in_len, NULL))) break;
        if (in_len == 0 && out_len == 0) break;
        at += in_len;
        out += out_len;
    }
    LZ4F_freeDecompressionContext(ctx);
    return at == len ? (int64_t)out : -1;
}

static int64_t undo(int method, const char *in, size_t len, char *raw, size_t room) {
    switch (method) {
    case CHUTE_COMPRESS_NONE: memcpy(raw, in, len); return (int64_t)len;
    case CHUTE_COMPRESS_ZSTD: return unzstd(in, len, raw, room);
    case CHUTE_COMPRESS_LZ4: return unlz4(in, len, raw, room);
    default: return unframe((const uint8_t *)in, len, (uint8_t *)raw, room);
    }
}

static void one_way_and_back(chute_compressor *c, int method, const char *head, size_t len) {
    size_t head_len = strlen(head), out_len, room = head_len + len + 1;
    char *bytes = make_bytes(len), *raw = malloc(room);
    const char *out;
    CHECK_INT(0, chute_compress_after(c, head, head_len, bytes, len, &out, &out_len, NULL));
    CHECK_INT(head_len + len, undo(method, out, out_len, raw, room));
    CHECK(memcmp(raw, head, head_len) == 0);
    CHECK(memcmp(raw + head_len, bytes, len) == 0);
    free(bytes);
    free(raw);
}

static void round_trips(void) {
    static const size_t lens[] = {0,   1,   2,     15,    16,     17,      255,
                                  256, 257, 65535, 65536, 100000, 1 << 20, BIG};
    for (int method = CHUTE_COMPRESS_NONE; method <= CHUTE_COMPRESS_BLOCK_NONE; method++) {
        chute_compressor *c = chute_compressor_new(method, 0, NULL);
        CHECK(c != NULL);
        for (size_t i = sizeof lens / sizeof *lens; i-- > 0;) {
            one_way_and_back(c, method, "", lens[i]);
            one_way_and_back(c, method, "INSERT INTO t FORMAT RowBinary\n", lens[i]);
        }
        chute_compressor_free(c);
    }
}

static void levels(void) {
    static const struct {
        int method, level;
    } fine[] = {{CHUTE_COMPRESS_ZSTD, 1},       {CHUTE_COMPRESS_ZSTD, 19},
                {CHUTE_COMPRESS_LZ4, 1},        {CHUTE_COMPRESS_LZ4, 12},
                {CHUTE_COMPRESS_BLOCK_ZSTD, 9}, {CHUTE_COMPRESS_BLOCK_LZ4, 2},
                {CHUTE_COMPRESS_BLOCK_LZ4, 9}},
      bad[] = {{CHUTE_COMPRESS_ZSTD, 23},
               {CHUTE_COMPRESS_ZSTD, -1},
               {CHUTE_COMPRESS_LZ4, 13},
               {CHUTE_COMPRESS_NONE, 1},
               {CHUTE_COMPRESS_BLOCK_NONE, 1},
               {CHUTE_COMPRESS_BLOCK_NONE + 1, 0},
               {-1, 0}};
    chute_error err;
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
        chute_compressor *c = chute_compressor_new(fine[i].method, fine[i].level, &err);
        CHECK(c != NULL);
        one_way_and_back(c, fine[i].method, "head", 50000);
        chute_compressor_free(c);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK(chute_compressor_new(bad[i].method, bad[i].level, &err) == NULL);
        CHECK_INT(CHUTE_E_ARG, err.kind);
    }
}

/* "INSERT" as a block without compression, byte for byte: 18.16 took it. */
static void golden(void) {
    static const char wanted[] = "\x25\x20\x09\x51\x2a\x2f\xf4\x7d\x0c\xa3\xe4\x43\xef\x60\x95\x84"
                                 "\x02\x0f\0\0\0\x06\0\0\0INSERT";
    chute_compressor *c = chute_compressor_new(CHUTE_COMPRESS_BLOCK_NONE, 0, NULL);
    const char *out;
    size_t len;
    CHECK_INT(0, chute_compress(c, "INSERT", 6, &out, &len, NULL));
    CHECK_INT(sizeof wanted - 1, len);
    CHECK(memcmp(wanted, out, sizeof wanted - 1) == 0);
    chute_compressor_free(c);
}

static void broken_blocks(void) {
    chute_compressor *c = chute_compressor_new(CHUTE_COMPRESS_BLOCK_LZ4, 0, NULL);
    const char *out;
    size_t len;
    uint8_t raw[4096];
    struct chute_block block;
    chute_error err;
    char *bytes = make_bytes(1000);
    CHECK_INT(0, chute_compress(c, bytes, 1000, &out, &len, NULL));
    uint8_t *copy = malloc(len);
    for (size_t cut = 0; cut < len; cut++) { /* what is cut short asks for more */
        memcpy(copy, out, len);
        CHECK_INT(0, chute_block_find(copy, cut, &block, &err));
    }
    for (size_t at = 0; at < len; at++) { /* no changed byte passes */
        memcpy(copy, out, len);
        copy[at] ^= 0x10;
        int64_t n = chute_block_find(copy, len, &block, &err);
        CHECK(n == CHUTE_E_ARG || n == 0); /* a larger size asks for more */
    }
    memcpy(copy, out, len);
    CHECK_INT(len, chute_block_find(copy, len, &block, &err));
    block.raw_len--;
    CHECK_INT(CHUTE_E_ARG, chute_block_unpack(&block, raw, &err));
    CHECK_TEXT("compressed block: the packed bytes are broken", err.message, strlen(err.message));
    free(copy);
    free(bytes);
    chute_compressor_free(c);
}

static void bounds(void) {
    CHECK_INT(0, chute_block_bound(SIZE_MAX));
    CHECK(chute_block_bound(0) >= CHUTE_BLOCK_HEAD);
    chute_compressor *c = chute_compressor_new(CHUTE_COMPRESS_ZSTD, 0, NULL);
    const char *out;
    size_t len;
    chute_error err;
    CHECK_INT(CHUTE_E_ARG, chute_compress(c, "", SIZE_MAX, &out, &len, &err));
    chute_compressor_free(c);
}

int main(void) {
    round_trips();
    levels();
    golden();
    broken_blocks();
    bounds();
    return check_report("core/block");
}
