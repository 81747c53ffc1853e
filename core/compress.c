#include "compress.h"

#include "block.h"
#include "error.h"

#include <lz4.h>
#include <lz4frame.h>
#include <lz4hc.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { ZSTD_LEVEL = 1, LZ4_HC_FROM = 3, ROUND = 64 * 1024 };

struct chute_compressor {
    int method, level;
    ZSTD_CCtx *zstd;
    LZ4F_cctx *lz4;
    void *lz4_state; /* of block compression */
    char *out;
    size_t capacity;
};

/* ---- methods ------------------------------------------------------------------------------ */

static bool is_zstd(int method) {
    return method == CHUTE_COMPRESS_ZSTD || method == CHUTE_COMPRESS_BLOCK_ZSTD;
}

static bool is_lz4(int method) {
    return method == CHUTE_COMPRESS_LZ4 || method == CHUTE_COMPRESS_BLOCK_LZ4;
}

bool chute_compress_is_block(int method) {
    return method == CHUTE_COMPRESS_BLOCK_LZ4 || method == CHUTE_COMPRESS_BLOCK_ZSTD ||
           method == CHUTE_COMPRESS_BLOCK_NONE;
}

const char *chute_compress_encoding(int method) {
    if (method == CHUTE_COMPRESS_ZSTD) return "zstd";
    return method == CHUTE_COMPRESS_LZ4 ? "lz4" : NULL;
}

static int max_level(int method) {
    if (is_zstd(method)) return ZSTD_maxCLevel();
    return is_lz4(method) ? LZ4HC_CLEVEL_MAX : 0;
}

int chute_compress_check(int method, int level, chute_error *err) {
    if (method < CHUTE_COMPRESS_NONE || method > CHUTE_COMPRESS_BLOCK_NONE)
        return chute_fail(err, CHUTE_E_ARG, "unknown compression %d", method);
    if (level < 0 || level > max_level(method))
        return chute_fail(err, CHUTE_E_ARG, "compression level %d is not within 0 and %d", level,
                          max_level(method));
    return 0;
}

bool chute_compressor_does(const chute_compressor *compressor, int method, int level) {
    return compressor->method == method && compressor->level == level;
}

/* ---- life --------------------------------------------------------------------------------- */

static bool make_zstd(chute_compressor *c) {
    c->zstd = ZSTD_createCCtx();
    int level = c->level ? c->level : ZSTD_LEVEL;
    return c->zstd &&
           !ZSTD_isError(ZSTD_CCtx_setParameter(c->zstd, ZSTD_c_compressionLevel, level)) &&
           !ZSTD_isError(ZSTD_CCtx_setParameter(c->zstd, ZSTD_c_checksumFlag,
                                                c->method == CHUTE_COMPRESS_ZSTD));
}

static bool make_lz4(chute_compressor *c) {
    if (c->method == CHUTE_COMPRESS_LZ4)
        return !LZ4F_isError(LZ4F_createCompressionContext(&c->lz4, LZ4F_VERSION));
    c->lz4_state =
        malloc((size_t)(c->level >= LZ4_HC_FROM ? LZ4_sizeofStateHC() : LZ4_sizeofState()));
    return c->lz4_state != NULL;
}

chute_compressor *chute_compressor_new(int method, int level, chute_error *err) {
    if (chute_compress_check(method, level, err)) return NULL;
    chute_compressor *c = calloc(1, sizeof *c);
    if (c) {
        c->method = method;
        c->level = level;
        if ((!is_zstd(method) || make_zstd(c)) && (!is_lz4(method) || make_lz4(c))) return c;
        chute_compressor_free(c);
    }
    chute_fail(err, CHUTE_E_NOMEM, "no memory for a compressor");
    return NULL;
}

void chute_compressor_free(chute_compressor *compressor) {
    if (!compressor) return;
    ZSTD_freeCCtx(compressor->zstd);
    LZ4F_freeCompressionContext(compressor->lz4);
    free(compressor->lz4_state);
    free(compressor->out);
    free(compressor);
}

/* ---- frames ------------------------------------------------------------------------------- */

static LZ4F_preferences_t lz4_preferences(const chute_compressor *c, size_t len) {
    LZ4F_preferences_t prefs = LZ4F_INIT_PREFERENCES;
    prefs.frameInfo.blockSizeID = len > (1 << 20) ? LZ4F_max4MB : LZ4F_max1MB;
    prefs.frameInfo.blockMode = LZ4F_blockIndependent;
    prefs.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled;
    prefs.frameInfo.contentSize = len;
    prefs.compressionLevel = c->level;
    prefs.autoFlush = 1; /* compress what is left at once instead of copying it aside */
    return prefs;
}

/* An LZ4 frame in pieces, since the one-shot call makes a context anew each time. */
static size_t write_lz4(chute_compressor *c, const char *data, size_t len, char *out, size_t room) {
    LZ4F_preferences_t prefs = lz4_preferences(c, len);
    LZ4F_compressOptions_t stable = {.stableSrc = 1};
    size_t at = LZ4F_compressBegin(c->lz4, out, room, &prefs);
    if (LZ4F_isError(at)) return SIZE_MAX;
    size_t n = LZ4F_compressUpdate(c->lz4, out + at, room - at, data, len, &stable);
    if (LZ4F_isError(n)) return SIZE_MAX;
    at += n;
    n = LZ4F_compressEnd(c->lz4, out + at, room - at, &stable);
    return LZ4F_isError(n) ? SIZE_MAX : at + n;
}

static size_t write_zstd(chute_compressor *c, const char *data, size_t len, char *out,
                         size_t room) {
    size_t n = ZSTD_compress2(c->zstd, out, room, data, len);
    return ZSTD_isError(n) ? SIZE_MAX : n;
}

/* ---- blocks ------------------------------------------------------------------------------- */

static size_t pack_lz4(const chute_compressor *c, const char *data, size_t len, char *out,
                       size_t room) {
    int n = c->level >= LZ4_HC_FROM
                ? LZ4_compress_HC_extStateHC(c->lz4_state, data, out, (int)len, (int)room, c->level)
                : LZ4_compress_fast_extState(c->lz4_state, data, out, (int)len, (int)room, 1);
    return n > 0 ? (size_t)n : SIZE_MAX;
}

static size_t pack_none(const char *data, size_t len, char *out) {
    if (len) memcpy(out, data, len);
    return len;
}

/* Packs one block's bytes. `*method` tells how. */
static size_t pack(chute_compressor *c, const char *data, size_t len, char *out, size_t room,
                   uint8_t *method) {
    switch (c->method) {
    case CHUTE_COMPRESS_BLOCK_LZ4:
        *method = CHUTE_BLOCK_LZ4;
        return pack_lz4(c, data, len, out, room);
    case CHUTE_COMPRESS_BLOCK_ZSTD:
        *method = CHUTE_BLOCK_ZSTD;
        return write_zstd(c, data, len, out, room);
    default: *method = CHUTE_BLOCK_NONE; return pack_none(data, len, out);
    }
}

static size_t write_blocks(chute_compressor *c, const char *data, size_t len, char *out,
                           size_t room) {
    size_t written = 0;
    for (size_t at = 0; at < len;) {
        size_t raw = len - at < CHUTE_BLOCK_RAW ? len - at : CHUTE_BLOCK_RAW;
        char *block = out + written;
        uint8_t method;
        size_t left = room - written - CHUTE_BLOCK_HEAD;
        size_t n = pack(c, data + at, raw, block + CHUTE_BLOCK_HEAD,
                        left < 2 * CHUTE_BLOCK_RAW ? left : 2 * CHUTE_BLOCK_RAW, &method);
        if (n == SIZE_MAX) return SIZE_MAX;
        written += chute_block_seal((uint8_t *)block, method, (uint32_t)n, (uint32_t)raw);
        at += raw;
    }
    return written;
}

/* ---- whole bodies ------------------------------------------------------------------------- */

/* Room for `len` bytes compressed, or 0 where that overflows. */
static size_t bound(const chute_compressor *c, size_t len) {
    if (len > SIZE_MAX / 4) return 0;
    if (chute_compress_is_block(c->method)) return chute_block_bound(len);
    if (c->method == CHUTE_COMPRESS_ZSTD) return ZSTD_compressBound(len);
    if (c->method == CHUTE_COMPRESS_NONE) return len + 1;
    LZ4F_preferences_t prefs = lz4_preferences(c, len);
    return LZ4F_compressBound(len, &prefs) + LZ4F_HEADER_SIZE_MAX;
}

/* Makes the output buffer at least `room` bytes large; what it held is lost. */
static bool reserve(chute_compressor *c, size_t room) {
    if (room <= c->capacity) return true;
    free(c->out);
    c->capacity = 0;
    c->out = malloc(room + (ROUND - room % ROUND));
    if (c->out) c->capacity = room + (ROUND - room % ROUND);
    return c->out != NULL;
}

static size_t write_part(chute_compressor *c, const char *data, size_t len, char *out,
                         size_t room) {
    if (c->method == CHUTE_COMPRESS_ZSTD) return write_zstd(c, data, len, out, room);
    if (c->method == CHUTE_COMPRESS_LZ4) return write_lz4(c, data, len, out, room);
    if (c->method == CHUTE_COMPRESS_NONE) return pack_none(data, len, out);
    return write_blocks(c, data, len, out, room);
}

int chute_compress_after(chute_compressor *c, const char *head, size_t head_len, const char *data,
                         size_t len, const char **out, size_t *out_len, chute_error *err) {
    size_t head_room = head_len ? bound(c, head_len) : 0;
    size_t room = bound(c, len);
    if (room == 0 || (head_len && head_room == 0) || head_room > SIZE_MAX / 2 - room)
        return chute_fail(err, CHUTE_E_ARG, "%zu bytes are too many to compress at once", len);
    if (!reserve(c, head_room + room))
        return chute_fail(err, CHUTE_E_NOMEM, "no memory to compress %zu bytes", len);
    size_t at = head_len ? write_part(c, head, head_len, c->out, head_room) : 0;
    size_t n = at == SIZE_MAX ? at : write_part(c, data, len, c->out + at, c->capacity - at);
    if (n == SIZE_MAX)
        return chute_fail(err, CHUTE_E_SYSTEM, "the compression of %zu bytes failed", len);
    *out = c->out;
    *out_len = at + n;
    return 0;
}

int chute_compress(chute_compressor *compressor, const char *data, size_t len, const char **out,
                   size_t *out_len, chute_error *err) {
    return chute_compress_after(compressor, NULL, 0, data, len, out, out_len, err);
}
