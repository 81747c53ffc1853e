/* canned: answers that no server gave. */
#include "faultproxy.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 1 << 16 };
static const size_t SHORT_BYTES = 1000; /* how many a short answer lacks */

static const char *reason_of(int64_t status) {
    static const struct {
        int64_t status;
        const char *reason;
    } REASONS[] = {
        {200, "OK"},
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {408, "Request Timeout"},
        {411, "Length Required"},
        {413, "Payload Too Large"},
        {417, "Expectation Failed"},
        {425, "Too Early"},
        {429, "Too Many Requests"},
        {500, "Internal Server Error"},
        {502, "Bad Gateway"},
        {503, "Service Unavailable"},
        {504, "Gateway Timeout"},
    };
    for (size_t i = 0; i < sizeof REASONS / sizeof *REASONS; i++)
        if (REASONS[i].status == status) return REASONS[i].reason;
    return "Whatever";
}

void fp_end_head(struct fp_exchange *x, struct ch_buf *head) {
    int64_t advertise =
        x->rule.advertise >= 0 ? x->rule.advertise : (int64_t)fp_options.keep_alive_s;
    if (x->rule.connection == 1) x->keep = false;
    if (x->keep && advertise > 0) ch_buf_print(head, "Keep-Alive: timeout=%ld\r\n", advertise);
    ch_buf_print(head, "Connection: %s\r\n\r\n", x->keep ? "Keep-Alive" : "close");
}

static bool is_chunked(int framing) {
    return framing >= FP_CHUNKED && framing <= FP_BROKEN;
}

static uint64_t body_size(const struct fp_rule *rule) {
    return rule->size >= 0 ? (uint64_t)rule->size : rule->body.len;
}

static void print_head(struct fp_exchange *x, struct ch_buf *out) {
    const struct fp_rule *rule = &x->rule;
    bool typed = rule->header.at && strcasestr(rule->header.at, "Content-Type:");
    ch_buf_print(out, "HTTP/1.%d %ld %s\r\n", rule->http10 > 0 ? 0 : 1, rule->status,
                 rule->reason.at ? rule->reason.at : reason_of(rule->status));
    if (!typed) ch_buf_text(out, "Content-Type: text/plain; charset=UTF-8\r\n");
    if (rule->header.at) ch_buf_print(out, "%s\r\n", rule->header.at);
    if (is_chunked(rule->framing))
        ch_buf_text(out, "Transfer-Encoding: chunked\r\n");
    else if (rule->framing != FP_UNTIL_CLOSE)
        ch_buf_print(out, "Content-Length: %lu\r\n",
                     body_size(rule) + (rule->framing == FP_SHORT ? SHORT_BYTES : 0));
    fp_end_head(x, out);
}

/* A block of the body's text over and over; the next block goes on where it ends. */
static void fill_block(struct ch_buf *block, struct fp_text text) {
    if (!text.len) text = (struct fp_text){"x", 1};
    while (block->len < BLOCK_BYTES) ch_buf_add(block, text.at, text.len);
}

static int send_part(struct fp_exchange *x, const char *bytes, size_t len) {
    struct ch_buf out = {0};
    bool chunked = is_chunked(x->rule.framing);
    if (chunked) ch_buf_print(&out, "%zx\r\n", len);
    ch_buf_add(&out, bytes, len);
    if (chunked) ch_buf_text(&out, "\r\n");
    int failed = fp_send(&x->sender, out.at, out.len);
    ch_buf_free(&out);
    return failed;
}

static int send_body(struct fp_exchange *x) {
    struct ch_buf block = {0};
    int failed = 0;
    uint64_t left = body_size(&x->rule);
    if (left > x->rule.body.len) fill_block(&block, x->rule.body);
    const char *from = block.at ? block.at : x->rule.body.at;
    size_t most = block.at ? block.len : left;
    while (left > 0 && !failed) {
        size_t n = left < most ? left : most;
        failed = send_part(x, from, n);
        left -= n;
    }
    ch_buf_free(&block);
    return failed;
}

static int send_tail(struct fp_exchange *x) {
    switch (x->rule.framing) {
    case FP_CHUNKED: return fp_send_text(&x->sender, "0\r\n\r\n");
    case FP_BROKEN: return fp_send_text(&x->sender, "no chunk\r\n");
    case FP_TRAILERS: {
        int failed = fp_send_text(&x->sender, "0\r\n");
        const char *trailer = x->rule.trailer.at ? x->rule.trailer.at : "X-Trailer: 1";
        if (!failed) failed = fp_send_text(&x->sender, trailer);
        return failed ? failed : fp_send_text(&x->sender, "\r\n\r\n");
    }
    default: return 0;
    }
}

static int send_answer(struct fp_exchange *x) {
    struct ch_buf head = {0};
    print_head(x, &head);
    int failed = fp_begin_answer(x);
    if (!failed) failed = fp_send(&x->sender, head.at, head.len);
    ch_buf_free(&head);
    if (!failed) failed = send_body(x);
    return failed ? failed : send_tail(x);
}

int fp_answer_canned(struct fp_exchange *x) {
    const struct fp_rule *rule = &x->rule;
    bool ends = rule->raw.at || rule->http10 > 0 || rule->framing == FP_SHORT ||
                rule->framing >= FP_UNENDED;
    bool promises = !rule->raw.at && rule->http10 <= 0 && rule->framing != FP_UNTIL_CLOSE;
    if (!promises) x->keep = false;
    x->status = (unsigned)(rule->status > 0 ? rule->status : 0);
    int failed = rule->raw.at ? fp_send(&x->sender, rule->raw.at, rule->raw.len) : send_answer(x);
    if (ends) x->keep = false;
    return failed ? failed : fp_send_end(&x->sender);
}
