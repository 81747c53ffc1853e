/* reply: how an answer is labelled and packed. */
#include "chserver.h"

#include <lz4frame.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zstd.h>

/* The HTTP status of an exception code, as ClickHouse 26.5 has it; any other is 500. */
static const struct {
    uint16_t code, status;
} STATUSES[] = {
    {194, 401},                                                             /* passwords */
    {192, 403}, {193, 403}, {497, 403}, {512, 403}, {516, 403},             /* access */
    {6, 400},   {8, 400},   {15, 400},  {25, 400},  {26, 400},  {27, 400},  /* data */
    {36, 400},  {38, 400},  {41, 400},  {44, 400},  {53, 400},  {72, 400},  /* … */
    {117, 400}, {321, 400}, {376, 400}, {427, 400}, {441, 400}, {675, 400}, /* … */
    {676, 400}, {35, 400},  {62, 400},  {167, 400}, {168, 400}, {223, 400}, /* syntax */
    {237, 400}, {46, 404},  {47, 404},  {50, 404},  {56, 404},  {60, 404},  /* unknown names */
    {63, 404},  {73, 404},  {78, 404},  {81, 404},  {115, 404}, {336, 404}, /* … */
    {511, 404}, {159, 408}, {381, 411}, {229, 413}, {48, 501},  {76, 503},  /* the rest */
    {209, 503}, {439, 503},
};

unsigned ch_status_of(int code) {
    for (size_t i = 0; i < sizeof STATUSES / sizeof *STATUSES; i++)
        if (STATUSES[i].code == code) return STATUSES[i].status;
    return 500;
}

const char *ch_content_type(const char *format, size_t len) {
    static const struct {
        const char *start, *type;
    } TYPES[] = {
        {"TabSeparated", "text/tab-separated-values; charset=UTF-8"},
        {"TSV", "text/tab-separated-values; charset=UTF-8"},
        {"JSON", "application/json; charset=UTF-8"},
        {"CSV", "text/csv; charset=UTF-8; header=absent"},
        {"RowBinary", "application/octet-stream"},
        {"Native", "application/octet-stream"},
    };
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++) {
        size_t n = strlen(TYPES[i].start);
        if (len >= n && memcmp(format, TYPES[i].start, n) == 0) return TYPES[i].type;
    }
    return "text/plain; charset=UTF-8";
}

const char *ch_pick_encoding(const char *accepted) {
    if (strcasestr(accepted, "zstd")) return "zstd";
    if (strcasestr(accepted, "lz4")) return "lz4";
    return NULL;
}

void ch_encode(struct ch_buf *body, const char *encoding) {
    struct ch_buf out = {0};
    bool zstd = strcmp(encoding, "zstd") == 0;
    size_t bound = zstd ? ZSTD_compressBound(body->len) : LZ4F_compressFrameBound(body->len, NULL);
    ch_buf_reserve(&out, bound);
    out.len = zstd ? ZSTD_compress(out.at, bound, body->at, body->len, 1)
                   : LZ4F_compressFrame(out.at, bound, body->at, body->len, NULL);
    if (zstd ? ZSTD_isError(out.len) : LZ4F_isError(out.len)) abort();
    ch_buf_free(body);
    *body = out;
}
