#include "chserver.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *grown(void *old, size_t bytes) {
    void *at = realloc(old, bytes);
    if (at) return at;
    fputs("chserver: out of memory\n", stderr);
    abort();
}

void ch_buf_reserve(struct ch_buf *buf, size_t more) {
    if (buf->capacity - buf->len >= more) return;
    size_t wanted = buf->len + more;
    if (wanted < buf->len) wanted = SIZE_MAX;
    size_t doubled = buf->capacity < SIZE_MAX / 2 ? buf->capacity * 2 : SIZE_MAX;
    buf->capacity = wanted > doubled ? wanted : doubled;
    buf->at = grown(buf->at, buf->capacity);
}

void ch_buf_add(struct ch_buf *buf, const void *bytes, size_t len) {
    if (len == 0) return;
    ch_buf_reserve(buf, len);
    memcpy(buf->at + buf->len, bytes, len);
    buf->len += len;
}

void ch_buf_text(struct ch_buf *buf, const char *text) {
    ch_buf_add(buf, text, strlen(text));
}

static void print_args(struct ch_buf *buf, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    if (len > 0) {
        ch_buf_reserve(buf, (size_t)len + 1);
        vsnprintf(buf->at + buf->len, (size_t)len + 1, format, again);
        buf->len += (size_t)len;
    }
    va_end(again);
}

void ch_buf_print(struct ch_buf *buf, const char *format, ...) {
    va_list args;
    va_start(args, format);
    print_args(buf, format, args);
    va_end(args);
}

void ch_buf_free(struct ch_buf *buf) {
    free(buf->at);
    *buf = (struct ch_buf){0};
}

void ch_pairs_add(struct ch_pairs *pairs, struct ch_pair pair) {
    pairs->at = grown(pairs->at, (pairs->count + 1) * sizeof *pairs->at);
    pairs->at[pairs->count++] = pair;
}

int ch_fail(struct ch_error *err, int code, const char *name, const char *format, ...) {
    err->code = code;
    err->text.len = 0;
    ch_buf_print(&err->text, "Code: %d. DB::Exception: ", code);
    va_list args;
    va_start(args, format);
    print_args(&err->text, format, args);
    va_end(args);
    ch_buf_print(&err->text, ". (%s)", name);
    return -1;
}
