/* file: the transport that leaves each batch in a folder, to be sent by other means.
 *
 *   20261201T101112.123Z-TOKEN.rowbinary.zst    the body, as it would have gone
 *   20261201T101112.123Z-TOKEN.sql              its INSERT and a newline; there before the body
 */
#include "transport.h"

#include "compress.h"
#include "error.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct folder {
    chute_transport base;
    int fd;
};

enum { NAME = 160 };

static int refuse(const struct folder *folder, const char *what, chute_error *err) {
    const char *place = folder->base.host->url.place;
    chute_fail(err, CHUTE_E_SYSTEM, "%s: cannot %s: %s", place, what, strerror(errno));
    err->flags = CHUTE_RETRYABLE;
    return CHUTE_E_SYSTEM;
}

static bool write_all(int fd, const char *bytes, size_t len) {
    while (len) {
        ssize_t n = write(fd, bytes, len);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        bytes += n;
        len -= (size_t)n;
    }
    return true;
}

/* Writes a file that is there whole or not at all, and on the disk. */
static int leave(const struct folder *folder, const char *name, const char *bytes, size_t len,
                 chute_error *err) {
    char draft[NAME + 8];
    snprintf(draft, sizeof draft, ".%s.new", name);
    int fd = openat(folder->fd, draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) return refuse(folder, "make a file", err);
    bool fine = write_all(fd, bytes, len) && fsync(fd) == 0;
    fine = close(fd) == 0 && fine;
    bool renamed = fine && renameat(folder->fd, draft, folder->fd, name) == 0;
    if (renamed && fsync(folder->fd) == 0) return 0;
    refuse(folder, "write a file", err);
    unlinkat(folder->fd, renamed ? name : draft, 0);
    return CHUTE_E_SYSTEM;
}

static const char *suffix_of(const chute_request *request) {
    if (!request->packed) return "";
    if (request->compression == CHUTE_COMPRESS_ZSTD) return ".zst";
    return request->compression == CHUTE_COMPRESS_LZ4 ? ".lz4" : ".blocks";
}

/* The format is the statement's last word. */
static void write_names(const chute_request *request, char *body, char *sql) {
    struct timespec now;
    struct tm utc;
    char stamp[32], format[64];
    size_t end = request->sql_len, len = 0;
    while (end && !isalnum((unsigned char)request->sql[end - 1])) end--;
    size_t start = end;
    while (start && isalnum((unsigned char)request->sql[start - 1])) start--;
    for (; start + len < end && len < sizeof format - 1; len++)
        format[len] = (char)tolower((unsigned char)request->sql[start + len]);
    format[len] = '\0';
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%S", &utc);
    int at = snprintf(sql, NAME, "%s.%03ldZ-%s", stamp, now.tv_nsec / 1000000, request->token);
    snprintf(body, NAME, "%.80s.%s%s", sql, format, suffix_of(request));
    snprintf(sql + at, NAME - (size_t)at, ".sql");
}

static int store(const struct folder *folder, const chute_request *request, chute_error *err) {
    char body[NAME], sql[NAME];
    write_names(request, body, sql);
    if (leave(folder, sql, request->sql, request->sql_len + 1, err)) return CHUTE_E_SYSTEM;
    int failed = request->packed ? leave(folder, body, request->packed, request->packed_len, err)
                                 : leave(folder, body, request->rows, request->rows_len, err);
    if (failed) unlinkat(folder->fd, sql, 0);
    return failed;
}

static void start(chute_transport *transport, chute_request *request) {
    struct folder *folder = (struct folder *)transport;
    if (request->kind == CHUTE_REQUEST_PING) {
        if (faccessat(folder->fd, ".", W_OK, AT_EACCESS))
            refuse(folder, "write there", &request->error);
    } else {
        store(folder, request, &request->error);
    }
    transport->finished(transport->context, request);
}

static void close_folder(chute_transport *transport) {
    struct folder *folder = (struct folder *)transport;
    if (folder->fd >= 0) close(folder->fd);
    free(folder);
}

chute_transport *chute_file_open(chute_host *host, const struct chute_transport_config *config,
                                 chute_error *err) {
    static const struct chute_transport_ops ops = {.start = start, .close = close_folder};
    (void)config;
    struct folder *folder = calloc(1, sizeof *folder);
    if (!folder) {
        chute_fail(err, CHUTE_E_NOMEM, "no memory for a pool");
        return NULL;
    }
    folder->base = (chute_transport){
        .ops = &ops, .host = host, .at_once = 1, .takes_apart = true, .no_queries = true};
    folder->fd = open(host->url.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder->fd < 0) {
        chute_error unwanted;
        refuse(folder, "open the folder", err ? err : &unwanted);
        close_folder(&folder->base);
        return NULL;
    }
    host->met = true;
    return &folder->base;
}
