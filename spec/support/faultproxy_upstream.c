/* upstream: the real server, asked over a connection of its own for every request. */
#include "faultproxy.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { STEP_BYTES = 1 << 17 };

static _Atomic uint16_t port;

void fp_upstream_set(uint16_t to) {
    port = to;
}

static int connect_upstream(void) {
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) abort();
    if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0 && fcntl(fd, F_SETFL, O_NONBLOCK) == 0)
        return fd;
    close(fd);
    return FP_FAILED;
}

/* ---- the request ---------------------------------------------------------------------------- */

static bool is_ours(const char *line, size_t len) {
    static const char *const NAMES[] = {"Connection", "Keep-Alive",       "Expect",
                                        "Te",         "Proxy-Connection", "Proxy-Authorization"};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (fp_line_is(line, len, NAMES[i])) return true;
    return false;
}

static void print_request(const struct fp_head *head, struct ch_buf *out) {
    const char *target = head->target, *line;
    size_t len = head->target_len, at = 0, line_len;
    const char *scheme = len && *target != '/' ? memmem(target, len, "://", 3) : NULL;
    if (scheme) { /* as a proxy is asked */
        const char *path = memchr(scheme + 3, '/', len - (size_t)(scheme + 3 - target));
        if (!path) path = target + len;
        len -= (size_t)(path - target);
        target = path;
    }
    ch_buf_add(out, head->text, head->method_len);
    ch_buf_print(out, " %.*s HTTP/1.1\r\n", (int)len, target);
    while (fp_head_line(head->text, head->len, &at, &line, &line_len))
        if (!is_ours(line, line_len)) ch_buf_print(out, "%.*s\r\n", (int)line_len, line);
    ch_buf_text(out, "Connection: close\r\n\r\n");
}

/* A server that answers before it has read all is heard out: a failed write is no failure yet. */
static void send_request(const struct fp_exchange *x, struct fp_conn *up) {
    struct ch_buf head = {0};
    print_request(&x->head, &head);
    if (fp_write(up, head.at, head.len) == 0) (void)fp_write(up, x->body.at, x->body.len);
    ch_buf_free(&head);
}

/* Waits for the answer's first byte. A query whose client leaves is left too, as it would be
 * without us; an insert runs on. */
static int await_answer(const struct fp_exchange *x, struct fp_conn *up) {
    struct pollfd fds[3] = {{up->fd, POLLIN, 0},
                            {up->wake, POLLIN, 0},
                            {x->kind == FP_INSERT ? -1 : x->conn->fd, POLLRDHUP, 0}};
    if (poll(fds, 3, -1) < 0 || fds[1].revents) return FP_FAILED;
    return fds[0].revents || !fds[2].revents ? 0 : FP_FAILED;
}

/* ---- the answer ----------------------------------------------------------------------------- */

struct reply {
    size_t head_len;
    unsigned status;
    bool chunked, has_length;
    uint64_t length, got; /* of the body */
    char last[5];         /* bytes of the body */
};

/* Reads the head of the answer, past those that are only interim. */
static int read_head(struct fp_conn *up, struct reply *reply) {
    char value[32];
    for (;;) {
        while (!(reply->head_len = fp_head_end(up->in.at, up->in.len)))
            if (fp_fill(up, STEP_BYTES, -1) <= 0) return FP_FAILED;
        if (sscanf(up->in.at, "HTTP/1.%*1[01] %3u", &reply->status) != 1) return FP_FAILED;
        if (reply->status >= 200) break;
        fp_consume(up, reply->head_len);
    }
    fp_header(up->in.at, reply->head_len, "Transfer-Encoding", value, sizeof value);
    reply->chunked = strcasecmp(value, "chunked") == 0;
    fp_header(up->in.at, reply->head_len, "Content-Length", value, sizeof value);
    reply->has_length = value[0];
    reply->length = strtoull(value, NULL, 10);
    return 0;
}

static int send_head(struct fp_exchange *x, const struct fp_conn *up, const struct reply *reply) {
    struct ch_buf head = {0};
    const char *line;
    size_t at = 0, len,
           end = (size_t)((char *)memmem(up->in.at, reply->head_len, "\r\n", 2) - up->in.at);
    ch_buf_print(&head, "%.*s\r\n", (int)end, up->in.at);
    while (fp_head_line(up->in.at, reply->head_len, &at, &line, &len))
        if (!is_ours(line, len)) ch_buf_print(&head, "%.*s\r\n", (int)len, line);
    if (x->rule.header.at) ch_buf_print(&head, "%s\r\n", x->rule.header.at);
    if (!reply->chunked && !reply->has_length) x->keep = false;
    fp_end_head(x, &head);
    int failed = fp_send(&x->sender, head.at, head.len);
    ch_buf_free(&head);
    return failed;
}

static void note(struct reply *reply, const char *bytes, size_t len) {
    size_t size = sizeof reply->last, keep = len < size ? size - len : 0;
    memmove(reply->last, reply->last + size - keep, keep);
    memcpy(reply->last + keep, bytes + len - (size - keep), size - keep);
    reply->got += len;
}

static bool is_whole(const struct reply *reply) {
    if (reply->has_length) return reply->got == reply->length;
    return !reply->chunked || memcmp(reply->last, "0\r\n\r\n", 5) == 0;
}

static int send_body(struct fp_exchange *x, struct fp_conn *up, struct reply *reply) {
    ssize_t got = 1;
    while (got > 0) {
        if (up->in.len > 0) {
            note(reply, up->in.at, up->in.len);
            if (fp_send(&x->sender, up->in.at, up->in.len)) return FP_FAILED;
            up->in.len = 0;
        }
        got = fp_fill(up, STEP_BYTES, -1);
    }
    if (got == 0 && is_whole(reply)) return fp_send_end(&x->sender);
    fp_reset(x->conn); /* what the server did not finish, neither do we */
    x->sender.end = "reset";
    return FP_FAILED;
}

/* Whether the server's answer is to be there in full before a byte of ours leaves. */
static bool waits(const struct fp_exchange *x) {
    if (x->rule.at != FP_AT_ANSWER) return false;
    return fp_rule_answers(&x->rule) || (x->rule.action != FP_NONE && x->sender.cut == 0);
}

static int answer(struct fp_exchange *x, struct fp_conn *up) {
    struct reply reply = {0};
    if (await_answer(x, up) || read_head(up, &reply)) return FP_FAILED;
    fp_log_upstream(x->record, reply.status);
    if (waits(x))
        while (fp_fill(up, STEP_BYTES, -1) > 0) continue;
    if (x->rule.at == FP_AT_ANSWER && fp_rule_answers(&x->rule)) return fp_answer_canned(x);
    x->status = reply.status;
    if (fp_begin_answer(x) || send_head(x, up, &reply)) return FP_FAILED;
    fp_consume(up, reply.head_len);
    return send_body(x, up, &reply);
}

int fp_forward(struct fp_exchange *x) {
    struct fp_conn up = {.fd = connect_upstream(), .wake = x->conn->wake};
    int failed = FP_FAILED;
    if (up.fd < 0) {
        fp_count(FP_C_upstream_failures, 1);
    } else {
        fp_log_forwarded(x->record);
        send_request(x, &up);
        failed = answer(x, &up);
        if (failed && !x->sender.end && !fp_left(x->conn)) fp_count(FP_C_upstream_failures, 1);
    }
    if (failed && !x->sender.end) {
        x->sender.end = fp_left(x->conn) ? "left" : "reset";
        fp_reset(x->conn);
    }
    ch_buf_free(&up.in);
    fp_close(&up);
    return failed;
}
