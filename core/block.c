#include "block.h"

#include "cityhash.h"
#include "error.h"

#include <lz4.h>
#include <string.h>
#include <zstd.h>

enum { CHECKSUM = 16, SIZES = 9 };

size_t chute_block_bound(size_t len) {
    size_t blocks = len / CHUTE_BLOCK_RAW + 1;
    /* LZ4's bound is len / 255 + 16, zstd's less than len / 256 + 64 KiB at these sizes. */
    size_t each = CHUTE_BLOCK_RAW + CHUTE_BLOCK_RAW / 128 + 4096 + CHUTE_BLOCK_HEAD;
    if (len >= CHUTE_BLOCK_RAW) return blocks > SIZE_MAX / each ? 0 : blocks * each;
    return len + len / 128 + 4096 + CHUTE_BLOCK_HEAD;
}

size_t chute_block_seal(uint8_t *block, uint8_t method, uint32_t packed, uint32_t raw) {
    uint32_t size = SIZES + packed;
    block[CHECKSUM] = method;
    memcpy(block + CHECKSUM + 1, &size, sizeof size);
    memcpy(block + CHECKSUM + 5, &raw, sizeof raw);
    chute_hash128 sum = chute_cityhash128(block + CHECKSUM, size);
    memcpy(block, &sum.low, sizeof sum.low);
    memcpy(block + 8, &sum.high, sizeof sum.high);
    return (size_t)CHECKSUM + size;
}

static int check_sum(const uint8_t *bytes, uint32_t size, chute_error *err) {
    chute_hash128 want, sum = chute_cityhash128(bytes + CHECKSUM, size);
    memcpy(&want.low, bytes, sizeof want.low);
    memcpy(&want.high, bytes + 8, sizeof want.high);
    if (want.low == sum.low && want.high == sum.high) return 0;
    return chute_fail(err, CHUTE_E_ARG, "compressed block: the checksum does not match");
}

static bool is_known(uint8_t method) {
    return method == CHUTE_BLOCK_LZ4 || method == CHUTE_BLOCK_ZSTD || method == CHUTE_BLOCK_NONE;
}

int64_t chute_block_find(const uint8_t *bytes, size_t len, struct chute_block *block,
                         chute_error *err) {
    uint32_t size;
    if (len < CHUTE_BLOCK_HEAD) return 0;
    memcpy(&size, bytes + CHECKSUM + 1, sizeof size);
    memcpy(&block->raw_len, bytes + CHECKSUM + 5, sizeof block->raw_len);
    block->method = bytes[CHECKSUM];
    if (!is_known(block->method))
        return chute_fail(err, CHUTE_E_ARG, "compressed block: unknown method 0x%02x",
                          block->method);
    if (size < SIZES || size > CHUTE_BLOCK_RAW_MAX || block->raw_len > CHUTE_BLOCK_RAW_MAX)
        return chute_fail(err, CHUTE_E_ARG, "compressed block: impossible sizes %u and %u", size,
                          block->raw_len);
    if (len - CHECKSUM < size) return 0;
    if (check_sum(bytes, size, err)) return CHUTE_E_ARG;
    block->packed_len = size - SIZES;
    block->packed = bytes + CHUTE_BLOCK_HEAD;
    return (int64_t)CHECKSUM + size;
}

static bool unpack(const struct chute_block *block, uint8_t *raw) {
    switch (block->method) {
    case CHUTE_BLOCK_LZ4:
        return LZ4_decompress_safe((const char *)block->packed, (char *)raw, (int)block->packed_len,
                                   (int)block->raw_len) == (int)block->raw_len;
    case CHUTE_BLOCK_ZSTD:
        return ZSTD_decompress(raw, block->raw_len, block->packed, block->packed_len) ==
               block->raw_len;
    default:
        if (block->packed_len != block->raw_len) return false;
        memcpy(raw, block->packed, block->raw_len);
        return true;
    }
}

int chute_block_unpack(const struct chute_block *block, uint8_t *raw, chute_error *err) {
    if (unpack(block, raw)) return 0;
    return chute_fail(err, CHUTE_E_ARG, "compressed block: the packed bytes are broken");
}
