/* body: what a request's body holds once its compression is undone. */
#include "chserver.h"

#include <lz4.h>
#include <lz4frame.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { STEP_BYTES = 1 << 20 };

static void replace(struct ch_buf *body, struct ch_buf *with) {
    ch_buf_free(body);
    *body = *with;
}

/* ---- Content-Encoding ----------------------------------------------------------------------- */

static int decode_zstd(const struct ch_buf *in, struct ch_buf *out, struct ch_error *err) {
    ZSTD_DCtx *ctx = ZSTD_createDCtx();
    ZSTD_inBuffer from = {in->at, in->len, 0};
    size_t left = in->len ? 1 : 0; /* 0 where a frame has ended */
    while (!ZSTD_isError(left) && (from.pos < from.size || left)) {
        ch_buf_reserve(out, STEP_BYTES);
        ZSTD_outBuffer to = {out->at + out->len, STEP_BYTES, 0};
        size_t was = from.pos;
        left = ZSTD_decompressStream(ctx, &to, &from);
        out->len += to.pos;
        if (from.pos == was && to.pos == 0) break;
    }
    ZSTD_freeDCtx(ctx);
    if (left == 0) return 0;
    return ch_fail(err, CH_ZSTD_DECODER_FAILED, "ZSTD_DECODER_FAILED",
                   "ZSTD stream decoding failed: %s",
                   ZSTD_isError(left) ? ZSTD_getErrorName(left) : "the frame is cut short");
}

static int decode_lz4(const struct ch_buf *in, struct ch_buf *out, struct ch_error *err) {
    LZ4F_dctx *ctx = NULL;
    if (LZ4F_isError(LZ4F_createDecompressionContext(&ctx, LZ4F_VERSION))) abort();
    size_t at = 0, left = in->len ? 1 : 0;
    while (!LZ4F_isError(left) && (at < in->len || left)) {
        ch_buf_reserve(out, STEP_BYTES);
        size_t wrote = STEP_BYTES, read = in->len - at;
        left = LZ4F_decompress(ctx, out->at + out->len, &wrote, in->at + at, &read, NULL);
        if (!LZ4F_isError(left)) {
            out->len += wrote;
            at += read;
            if (read == 0 && wrote == 0) break;
        }
    }
    LZ4F_freeDecompressionContext(ctx);
    if (left == 0) return 0;
    return ch_fail(err, CH_LZ4_DECODER_FAILED, "LZ4_DECODER_FAILED",
                   "LZ4 stream decoding failed: %s",
                   LZ4F_isError(left) ? LZ4F_getErrorName(left) : "the frame is cut short");
}

int ch_body_decode(struct ch_buf *body, const char *encoding, struct ch_error *err) {
    struct ch_buf out = {0};
    int failed;
    if (strcmp(encoding, "zstd") == 0)
        failed = decode_zstd(body, &out, err);
    else if (strcmp(encoding, "lz4") == 0)
        failed = decode_lz4(body, &out, err);
    else
        failed = ch_fail(err, CH_NOT_IMPLEMENTED, "NOT_IMPLEMENTED",
                         "Unknown compression method %.64s", encoding);
    replace(body, &out);
    return failed;
}

/* ---- compressed blocks ---------------------------------------------------------------------- */

/* CityHash128 of the rest (16 bytes) | method (1) | size of method..data (u32) | raw size (u32) |
 * data. Integers are little-endian. */
enum {
    SUM_BYTES = 16,
    HEADER_BYTES = 9,
    METHOD_NONE = 0x02,
    METHOD_LZ4 = 0x82,
    METHOD_ZSTD = 0x90
};
enum { MAX_BLOCK_BYTES = 1 << 30 };

struct block {
    unsigned char method;
    uint32_t raw;     /* bytes of the data once decompressed */
    uint32_t whole;   /* header and data */
    const char *from; /* the header */
};

static int read_header(const struct ch_buf *in, size_t at, struct block *block,
                       struct ch_error *err) {
    if (in->len - at < SUM_BYTES + HEADER_BYTES)
        return ch_fail(err, 33, "CANNOT_READ_ALL_DATA",
                       "Cannot read all data. Bytes read: %zu. "
                       "Bytes expected: %d",
                       in->len - at, SUM_BYTES + HEADER_BYTES);
    block->from = in->at + at + SUM_BYTES;
    block->method = (unsigned char)block->from[0];
    memcpy(&block->whole, block->from + 1, 4);
    memcpy(&block->raw, block->from + 5, 4);
    if (block->whole > MAX_BLOCK_BYTES || block->raw > MAX_BLOCK_BYTES)
        return ch_fail(err, CH_TOO_LARGE_COMPRESSED, "TOO_LARGE_SIZE_COMPRESSED",
                       "Too large size of a compressed block: %u bytes, %u raw. Most likely "
                       "corrupted data",
                       block->whole, block->raw);
    if (block->whole < HEADER_BYTES)
        return ch_fail(err, CH_CANNOT_DECOMPRESS, "CANNOT_DECOMPRESS",
                       "Can't decompress data: the compressed data size (%u, this should include "
                       "header size) is less than the header size (%d)",
                       block->whole, HEADER_BYTES);
    if (in->len - at - SUM_BYTES < block->whole)
        return ch_fail(err, 33, "CANNOT_READ_ALL_DATA",
                       "Cannot read all data. Bytes read: %zu. "
                       "Bytes expected: %u",
                       in->len - at - SUM_BYTES, block->whole);
    return 0;
}

static int check_sum(const char *sum, const struct block *block, struct ch_error *err) {
    uint64_t hash[2];
    ch_cityhash128(block->from, block->whole, hash);
    if (memcmp(hash, sum, sizeof hash) == 0) return 0;
    uint64_t given[2];
    memcpy(given, sum, sizeof given);
    return ch_fail(err, CH_CANNOT_DECOMPRESS, "CANNOT_DECOMPRESS",
                   "Checksum doesn't match: corrupted data. Reference: %016lx%016lx. "
                   "Actual: %016lx%016lx. Size of compressed block: %u",
                   given[0], given[1], hash[0], hash[1], block->whole);
}

static bool unpack(const struct block *block, char *to) {
    const char *data = block->from + HEADER_BYTES;
    size_t len = block->whole - HEADER_BYTES;
    switch (block->method) {
    case METHOD_NONE:
        if (len == block->raw) memcpy(to, data, len);
        return len == block->raw;
    case METHOD_LZ4:
        return LZ4_decompress_safe(data, to, (int)len, (int)block->raw) == (int)block->raw;
    case METHOD_ZSTD: return ZSTD_decompress(to, block->raw, data, len) == block->raw;
    default: return false;
    }
}

/* One block at *at. The method of a body's first block is that of all. */
static int unframe_one(const struct ch_buf *in, size_t *at, int *method, struct ch_buf *out,
                       struct ch_error *err) {
    struct block block = {0};
    if (read_header(in, *at, &block, err)) return -1;
    if (check_sum(in->at + *at, &block, err)) return -1;
    if (*method >= 0 && *method != block.method)
        return ch_fail(err, CH_CANNOT_DECOMPRESS, "CANNOT_DECOMPRESS",
                       "Data compressed with different methods, given method byte 0x%02x, "
                       "previous method byte 0x%02x",
                       block.method, (unsigned)*method);
    *method = block.method;
    ch_buf_reserve(out, block.raw);
    if (!unpack(&block, out->at + out->len))
        return ch_fail(err, CH_CANNOT_DECOMPRESS, "CANNOT_DECOMPRESS",
                       "Cannot decompress a block of method byte 0x%02x", block.method);
    out->len += block.raw;
    *at += SUM_BYTES + block.whole;
    return 0;
}

int ch_body_unframe(struct ch_buf *body, struct ch_error *err) {
    struct ch_buf out = {0};
    int failed = 0, method = -1;
    for (size_t at = 0; !failed && at < body->len;)
        failed = unframe_one(body, &at, &method, &out, err);
    replace(body, &out);
    return failed;
}

static void frame_one(struct ch_buf *out, const char *bytes, size_t len) {
    int bound = LZ4_compressBound((int)len);
    ch_buf_reserve(out, SUM_BYTES + HEADER_BYTES + (size_t)bound);
    char *sum = out->at + out->len, *header = sum + SUM_BYTES;
    int packed = LZ4_compress_default(bytes, header + HEADER_BYTES, (int)len, bound);
    if (packed <= 0) abort();
    uint32_t whole = (uint32_t)packed + HEADER_BYTES, raw = (uint32_t)len;
    header[0] = (char)METHOD_LZ4;
    memcpy(header + 1, &whole, 4);
    memcpy(header + 5, &raw, 4);
    uint64_t hash[2];
    ch_cityhash128(header, whole, hash);
    memcpy(sum, hash, sizeof hash);
    out->len += SUM_BYTES + whole;
}

void ch_body_frame(struct ch_buf *out, const char *bytes, size_t len) {
    for (size_t at = 0; at < len; at += STEP_BYTES)
        frame_one(out, bytes + at, len - at < STEP_BYTES ? len - at : STEP_BYTES);
}
