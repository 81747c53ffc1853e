/* head: what a request's first lines say. */
#include "faultproxy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

size_t fp_head_end(const char *text, size_t len) {
    const char *end = len ? memmem(text, len, "\r\n\r\n", 4) : NULL;
    return end ? (size_t)(end - text) + 4 : 0;
}

bool fp_head_line(const char *text, size_t len, size_t *at, const char **line, size_t *line_len) {
    if (*at == 0) { /* past the request's or status line */
        const char *first = memmem(text, len, "\r\n", 2);
        *at = first ? (size_t)(first - text) + 2 : len;
    }
    const char *end = memmem(text + *at, len - *at, "\r\n", 2);
    *line = text + *at;
    *line_len = end ? (size_t)(end - *line) : len - *at;
    *at += *line_len + (end ? 2 : 0);
    return *line_len > 0;
}

bool fp_line_is(const char *line, size_t len, const char *name) {
    size_t n = strlen(name);
    return len > n && line[n] == ':' && strncasecmp(line, name, n) == 0;
}

void fp_header(const char *text, size_t len, const char *name, char *out, size_t size) {
    const char *line;
    size_t at = 0, line_len;
    out[0] = 0;
    while (fp_head_line(text, len, &at, &line, &line_len)) {
        if (!fp_line_is(line, line_len, name)) continue;
        size_t skip = strlen(name) + 1;
        while (skip < line_len && line[skip] == ' ') skip++;
        snprintf(out, size, "%.*s", (int)(line_len - skip), line + skip);
        return;
    }
}

static bool has_value(const struct fp_head *head, const char *name, const char *value) {
    char found[64];
    fp_header(head->text, head->len, name, found, sizeof found);
    return strcasecmp(found, value) == 0;
}

int fp_head_parse(struct fp_head *head, const char *text, size_t len) {
    char length[32];
    *head = (struct fp_head){.text = text, .len = len};
    const char *line_end = memmem(text, len, "\r\n", 2);
    const char *blank = line_end ? memchr(text, ' ', (size_t)(line_end - text)) : NULL;
    if (!blank) return FP_FAILED;
    head->method_len = (size_t)(blank - text);
    head->target = blank + 1;
    const char *second = memchr(head->target, ' ', (size_t)(line_end - head->target));
    if (!second) return FP_FAILED;
    head->target_len = (size_t)(second - head->target);
    head->post = head->method_len == 4 && memcmp(text, "POST", 4) == 0;
    head->chunked = has_value(head, "Transfer-Encoding", "chunked");
    head->expect = has_value(head, "Expect", "100-continue");
    bool http10 = line_end - second > 8 && memcmp(second, " HTTP/1.0", 9) == 0;
    head->close = http10 || has_value(head, "Connection", "close");
    fp_header(text, len, "Content-Length", length, sizeof length);
    head->length = strtoull(length, NULL, 10);
    return head->length > (size_t)4 << 30 ? FP_FAILED : 0;
}

/* ---- the URL -------------------------------------------------------------------------------- */

static int digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static void decode(const char *at, const char *end, char *out, size_t size) {
    size_t n = 0;
    for (; at < end && n + 1 < size; at++) {
        char c = *at == '+' ? ' ' : *at;
        if (*at == '%' && end - at > 2 && digit(at[1]) >= 0 && digit(at[2]) >= 0) {
            c = (char)(digit(at[1]) * 16 + digit(at[2]));
            at += 2;
        }
        out[n++] = c;
    }
    out[n] = 0;
}

bool fp_param(const struct fp_head *head, const char *name, char *out, size_t size) {
    const char *end = head->target + head->target_len;
    const char *at = memchr(head->target, '?', head->target_len);
    size_t n = strlen(name);
    out[0] = 0;
    while (at && ++at < end) {
        const char *next = memchr(at, '&', (size_t)(end - at));
        const char *stop = next ? next : end;
        if ((size_t)(stop - at) > n && at[n] == '=' && memcmp(at, name, n) == 0) {
            decode(at + n + 1, stop, out, size);
            return true;
        }
        at = next;
    }
    return false;
}

/* ---- its kind ------------------------------------------------------------------------------- */

static bool is_path(const struct fp_head *head, const char *path) {
    const char *at = memmem(head->target, head->target_len, "://", 3); /* as a proxy is asked */
    size_t len = head->target_len;
    if (at) {
        const char *slash = memchr(at + 3, '/', len - (size_t)(at + 3 - head->target));
        if (!slash) return false;
        len -= (size_t)(slash - head->target);
        at = slash;
    } else {
        at = head->target;
    }
    size_t n = strlen(path);
    return len >= n && memcmp(at, path, n) == 0 && (len == n || at[n] == '?');
}

static bool starts_insert(const char *sql, size_t len) {
    while (len > 0 && (*sql == ' ' || (*sql >= '\t' && *sql <= '\r'))) sql++, len--;
    return len >= 6 && strncasecmp(sql, "INSERT", 6) == 0;
}

static bool is_compressed(const struct fp_head *head) {
    char found[16];
    fp_header(head->text, head->len, "Content-Encoding", found, sizeof found);
    return found[0] || (fp_param(head, "decompress", found, sizeof found) && found[0] == '1');
}

/* SQL within a compressed body stays unread: whoever compresses sends rows. */
enum fp_kind fp_kind_of(const struct fp_head *head, const char *body, size_t len) {
    char sql[64];
    if (is_path(head, "/ping")) return FP_PING;
    if (!is_path(head, "/")) return FP_OTHER;
    if (fp_param(head, "query", sql, sizeof sql))
        return starts_insert(sql, strlen(sql)) ? FP_INSERT : FP_QUERY;
    if (!head->post) return FP_OTHER;
    return starts_insert(body, len) || is_compressed(head) ? FP_INSERT : FP_QUERY;
}

const char *fp_kind_name(enum fp_kind kind) {
    static const char *const NAMES[] = {"any", "insert", "query", "ping", "other"};
    return NAMES[kind];
}
