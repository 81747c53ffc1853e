/* exchange: a request from its first byte to the end of its answer. */
#include "faultproxy.h"

#include <stdlib.h>
#include <string.h>

enum { HEAD_STEP_BYTES = 4096, MAX_HEAD_BYTES = 4 << 20, BODY_STEP_BYTES = 1 << 18 };
enum { KIND_BYTES = 16 };       /* of the body, to tell what it is */
enum { TICKS_PER_SECOND = 20 }; /* of a slow reader */
enum { GO_ON, ANSWERED };       /* or FP_FAILED: the connection has ended */

/* ---- the rule ------------------------------------------------------------------------------- */

static int64_t cut_of(const struct fp_rule *rule) {
    if (rule->cut != FP_UNSET) return rule->cut;
    bool waits = rule->action == FP_HOLD || rule->action == FP_PAUSE;
    return fp_rule_answers(rule) && !waits ? FP_END : 0;
}

static void take_rule(struct fp_exchange *x) {
    x->sender = (struct fp_sender){.conn = x->conn, .rule = &x->rule, .cut = cut_of(&x->rule)};
    /* Without an answer of its own a rule acts at its place, and the answer goes out as it is. */
    x->sender.acted = x->rule.action == FP_NONE;
}

static int act(struct fp_exchange *x, enum fp_at place) {
    if (x->rule.at != (int)place) return GO_ON;
    if (!fp_rule_answers(&x->rule)) return fp_send_end(&x->sender) ? FP_FAILED : GO_ON;
    if (place != FP_AT_REQUEST) x->keep = false; /* there may be a body to come */
    return fp_answer_canned(x) ? FP_FAILED : ANSWERED;
}

int fp_begin_answer(struct fp_exchange *x) {
    struct ch_buf out = {0};
    const char *at = x->rule.interim.at;
    while (at && *at) {
        size_t len = strcspn(at, ",");
        ch_buf_print(&out, "HTTP/1.1 %.*s Interim\r\n\r\n", (int)len, at);
        at += len + (at[len] == ',');
    }
    int failed = fp_write(x->conn, out.at, out.len);
    ch_buf_free(&out);
    return failed;
}

/* ---- the head ------------------------------------------------------------------------------- */

/* Waits for the request's first byte. */
static int begin(struct fp_exchange *x) {
    struct fp_conn *conn = x->conn;
    if (conn->in.len == 0 && fp_fill(conn, HEAD_STEP_BYTES, conn->idle_ms) <= 0) {
        fp_close(conn);
        return FP_FAILED;
    }
    conn->requests++;
    if (!fp_rules_pick(FP_AT_FIRST, conn, NULL, FP_ANY, &x->rule)) return GO_ON;
    take_rule(x);
    return act(x, FP_AT_FIRST);
}

static int read_head(struct fp_exchange *x) {
    size_t len;
    while (!(len = fp_head_end(x->conn->in.at, x->conn->in.len)))
        if (x->conn->in.len > MAX_HEAD_BYTES || fp_fill(x->conn, HEAD_STEP_BYTES, -1) <= 0)
            return FP_FAILED;
    x->head_text = malloc(len);
    if (!x->head_text) abort();
    memcpy(x->head_text, x->conn->in.at, len);
    fp_consume(x->conn, len);
    if (fp_head_parse(&x->head, x->head_text, len)) return FP_FAILED;
    x->keep = !x->head.close;
    return 0;
}

static int find_kind(struct fp_exchange *x) {
    const struct fp_head *head = &x->head;
    char query[2];
    size_t wanted = head->length < KIND_BYTES ? head->length : KIND_BYTES;
    bool peek = head->post && !head->expect && !fp_param(head, "query", query, sizeof query);
    while (peek && x->conn->in.len < wanted)
        if (fp_fill(x->conn, HEAD_STEP_BYTES, -1) <= 0) return FP_FAILED;
    x->kind = fp_kind_of(head, x->conn->in.at, x->conn->in.len);
    return 0;
}

/* ---- the body ------------------------------------------------------------------------------- */

static int invite(struct fp_exchange *x) {
    static const char CONTINUE[] = "HTTP/1.1 100 Continue\r\n\r\n";
    int how = x->rule.expect;
    if (!x->head.expect || how == FP_NEVER) return 0;
    if (how == FP_LATE && fp_pause(x->conn, x->rule.ms)) return FP_FAILED;
    for (int i = how == FP_TWICE ? 2 : 1; i > 0; i--)
        if (fp_write(x->conn, CONTINUE, sizeof CONTINUE - 1)) return FP_FAILED;
    return 0;
}

/* Reads on until the body has that many bytes. */
static int read_body_to(struct fp_exchange *x, size_t len) {
    int64_t rate = x->rule.read_rate;
    size_t step = rate > 0 ? (size_t)(rate / TICKS_PER_SECOND) + 1 : BODY_STEP_BYTES;
    while (x->body.len < len) {
        struct fp_conn *conn = x->conn;
        size_t n = len - x->body.len < step ? len - x->body.len : step;
        if (conn->in.len > 0) {
            if (n > conn->in.len) n = conn->in.len;
            ch_buf_add(&x->body, conn->in.at, n);
            fp_consume(conn, n);
        } else {
            ssize_t got = fp_read(conn, x->body.at + x->body.len, n, -1);
            if (got <= 0) return FP_FAILED;
            x->body.len += (size_t)got;
        }
        if (rate > 0 && fp_pause(conn, 1000 / TICKS_PER_SECOND)) return FP_FAILED;
    }
    return 0;
}

static int read_body(struct fp_exchange *x) {
    size_t len = x->head.length;
    ch_buf_reserve(&x->body, len);
    if (x->rule.at == FP_AT_BODY) {
        size_t until = x->rule.bytes >= 0 ? (size_t)x->rule.bytes : len / 2;
        if (read_body_to(x, until < len ? until : len)) return FP_FAILED;
        int done = act(x, FP_AT_BODY);
        if (done) return done;
    }
    return read_body_to(x, len);
}

static int take_body(struct fp_exchange *x) {
    int done = invite(x);
    if (!done) done = read_body(x);
    fp_log_body(x->record, x->body.at, x->body.len, x->body.len == x->head.length);
    return done;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static int refuse_chunked(struct fp_exchange *x) {
    x->rule.status = 411;
    x->keep = false;
    take_rule(x);
    return fp_answer_canned(x) ? FP_FAILED : ANSWERED;
}

static int handle(struct fp_exchange *x) {
    int done = act(x, FP_AT_HEAD);
    if (!done && x->head.chunked) done = refuse_chunked(x);
    if (!done) done = take_body(x);
    if (!done) done = act(x, FP_AT_REQUEST);
    return done ? done : fp_forward(x);
}

static const char *end_of(const struct fp_exchange *x, int done) {
    if (x->sender.end) return x->sender.end;
    if (done < 0) return fp_left(x->conn) ? "left" : "reset";
    return x->keep ? "kept" : "closed";
}

/* Whether the connection goes on. */
static bool run(struct fp_exchange *x) {
    if (read_head(x) || find_kind(x)) return false;
    if (fp_rules_pick(FP_AT_HEAD, x->conn, &x->head, x->kind, &x->rule)) take_rule(x);
    x->record = fp_log_begin(x->conn, &x->head, x->kind, &x->rule);
    int done = handle(x);
    x->conn->idle_ms =
        x->rule.idle_ms >= 0 ? x->rule.idle_ms : (int64_t)fp_options.keep_alive_s * 1000;
    fp_log_finish(x->record, x->status, x->sender.sent, end_of(x, done));
    if (done < 0) fp_reset(x->conn);
    return done >= 0 && x->keep;
}

static bool exchange(struct fp_conn *conn) {
    struct fp_exchange x = {.conn = conn};
    fp_rule_unset(&x.rule);
    take_rule(&x);
    bool keep = begin(&x) == GO_ON && run(&x);
    free(x.head_text);
    ch_buf_free(&x.body);
    return keep;
}

/* What happens before a byte has come, and before TLS. */
static int greet(struct fp_conn *conn) {
    struct fp_exchange x = {.conn = conn};
    if (!fp_rules_pick(FP_AT_ACCEPT, conn, NULL, FP_ANY, &x.rule)) return GO_ON;
    take_rule(&x);
    return act(&x, FP_AT_ACCEPT);
}

void fp_serve(struct fp_conn *conn) {
    if (greet(conn) == GO_ON) {
        if (conn->tls && fp_handshake(conn))
            fp_count(FP_C_tls_failures, 1);
        else
            while (exchange(conn)) continue;
    }
    fp_close_late(conn);
}
