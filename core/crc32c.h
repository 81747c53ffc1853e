/* crc32c: CRC-32C (Castagnoli), the checksum of what lies in the spool. */
#ifndef CHUTE_CRC32C_H
#define CHUTE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Goes on from `crc`, 0 at first: chute_crc32c(chute_crc32c(0, a), b) is that of a and b. */
uint32_t chute_crc32c(uint32_t crc, const void *bytes, size_t len);

#endif
