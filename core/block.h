/* block: ClickHouse's own framing of compressed bytes (decompress=1, compress=1).
 *
 *   ├ checksum 16 ┤├ method 1 ┤├ size 4 ┤├ raw size 4 ┤├ packed bytes ┤
 *
 * The checksum is CityHash128 (low word first) of all that follows it; `size` counts the 9 bytes
 * from the method on and the packed bytes. Blocks simply follow each other.
 */
#ifndef CHUTE_BLOCK_H
#define CHUTE_BLOCK_H

#include "chute.h"

#include <stdbool.h>

enum {
    CHUTE_BLOCK_HEAD = 25,        /* bytes before the packed ones */
    CHUTE_BLOCK_RAW = 1 << 20,    /* raw bytes we put in one block */
    CHUTE_BLOCK_RAW_MAX = 1 << 30 /* raw bytes a block may claim */
};

enum { CHUTE_BLOCK_LZ4 = 0x82, CHUTE_BLOCK_ZSTD = 0x90, CHUTE_BLOCK_NONE = 0x02 };

/* Room that the blocks of `len` raw bytes may take by any method, or 0 where that overflows. */
size_t chute_block_bound(size_t len);

/* Writes the head of a block whose `packed` bytes stand at block + CHUTE_BLOCK_HEAD already.
 * Returns the length of the whole block. */
size_t chute_block_seal(uint8_t *block, uint8_t method, uint32_t packed, uint32_t raw);

/* One block found in a stream; `packed` is borrowed from it. */
struct chute_block {
    uint8_t method;
    uint32_t raw_len;
    uint32_t packed_len;
    const uint8_t *packed;
};

/* Finds the block that starts at `bytes`. Returns its whole length, 0 where more bytes are
 * needed, or CHUTE_E_ARG: a bad checksum, size or method. */
int64_t chute_block_find(const uint8_t *bytes, size_t len, struct chute_block *block,
                         chute_error *err);

/* Unpacks a block that was found to block->raw_len bytes at `raw`. 0 or CHUTE_E_ARG. */
int chute_block_unpack(const struct chute_block *block, uint8_t *raw, chute_error *err);

#endif
