/* cityhash: CityHash128 as of CityHash 1.0.2, the checksum of ClickHouse's compressed blocks.
 * Later versions of CityHash give other values. */
#ifndef CHUTE_CITYHASH_H
#define CHUTE_CITYHASH_H

#include <stddef.h>
#include <stdint.h>

typedef struct chute_hash128 {
    uint64_t low, high;
} chute_hash128;

chute_hash128 chute_cityhash128(const void *bytes, size_t len);

#endif
