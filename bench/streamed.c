/* streamed: zstd as a stream that a batch's rows go into one by one, which is what the engine does
 * not do. The output is gathered, as it would have to be to be sent. */
#include <stdint.h>
#include <stdlib.h>
#include <zstd.h>

#define EXPORT __attribute__((visibility("default")))

typedef struct streamed {
    ZSTD_CCtx *context;
    char *out;
    size_t len, capacity;
} streamed;

streamed *streamed_new(int level);
void streamed_free(streamed *stream);
void streamed_begin(streamed *stream);
int streamed_add(streamed *stream, const char *row, size_t len, int flush);
size_t streamed_end(streamed *stream);

EXPORT streamed *streamed_new(int level) {
    streamed *stream = calloc(1, sizeof *stream);
    if (!stream) abort();
    stream->context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(stream->context, ZSTD_c_compressionLevel, level);
    return stream;
}

EXPORT void streamed_free(streamed *stream) {
    ZSTD_freeCCtx(stream->context);
    free(stream->out);
    free(stream);
}

/* A new frame in the same context; what was gathered is forgotten, its memory kept. */
EXPORT void streamed_begin(streamed *stream) {
    ZSTD_CCtx_reset(stream->context, ZSTD_reset_session_only);
    stream->len = 0;
}

static int feed(streamed *stream, const char *bytes, size_t len, ZSTD_EndDirective how) {
    ZSTD_inBuffer in = {bytes, len, 0};
    for (;;) {
        if (stream->capacity - stream->len < 1024) {
            stream->capacity = stream->capacity * 2 + 65536;
            stream->out = realloc(stream->out, stream->capacity);
            if (!stream->out) abort();
        }
        ZSTD_outBuffer out = {stream->out, stream->capacity, stream->len};
        size_t left = ZSTD_compressStream2(stream->context, &out, &in, how);
        if (ZSTD_isError(left)) return -1;
        stream->len = out.pos;
        if (how == ZSTD_e_continue ? in.pos == in.size : left == 0) return 0;
    }
}

/* `flush`: 1 writes out what the row compresses to at once. 0, or -1. */
EXPORT int streamed_add(streamed *stream, const char *row, size_t len, int flush) {
    return feed(stream, row, len, flush ? ZSTD_e_flush : ZSTD_e_continue);
}

/* Ends the frame. The bytes gathered, or 0 where zstd failed. */
EXPORT size_t streamed_end(streamed *stream) {
    return feed(stream, NULL, 0, ZSTD_e_end) ? 0 : stream->len;
}
