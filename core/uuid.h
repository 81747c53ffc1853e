/* uuid: UUIDs as text. */
#ifndef CHUTE_UUID_H
#define CHUTE_UUID_H

#include <stddef.h>
#include <stdint.h>

/* Reads 8-4-4-4-12 hex digits with hyphens, or 32 without, in any case, nothing around. Writes
 * RowBinary's form: two halves of 8 bytes, the high one first, each little-endian. 0, or -1 where
 * the text is no UUID (nothing is written). */
int chute_parse_uuid(const char *s, size_t n, uint8_t wire[16]);

enum { CHUTE_UUID_TEXT = 37 };

/* Writes a random (version 4) UUID as lower-case text with hyphens, NUL-ended. 0, or -1 where the
 * system gives no randomness. */
int chute_uuid_v4(char out[CHUTE_UUID_TEXT]);

#endif
