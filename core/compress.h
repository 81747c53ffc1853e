/* compress: a whole body at once, with contexts and an output buffer that are kept. */
#ifndef CHUTE_COMPRESS_H
#define CHUTE_COMPRESS_H

#include "chute.h"

#include <stdbool.h>

/* As chute_compress, with `head` put before `data` without copying the latter: the two become
 * frames of their own, one after the other, which ClickHouse reads as one. */
int chute_compress_after(chute_compressor *compressor, const char *head, size_t head_len,
                         const char *data, size_t len, const char **out, size_t *out_len,
                         chute_error *err);

/* Whether `method` is one of CHUTE_COMPRESS_… and `level` one of its levels. */
int chute_compress_check(int method, int level, chute_error *err);

/* What HTTP has to say of a body: its Content-Encoding, or NULL. */
const char *chute_compress_encoding(int method);
/* Whether the body consists of ClickHouse's own blocks: decompress=1. */
bool chute_compress_is_block(int method);

bool chute_compressor_does(const chute_compressor *compressor, int method, int level);

#endif
