/* log: every request that came, and what became of it; counters to wait for. */
#include "faultproxy.h"

#include <openssl/evp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { HEADS_KEPT = 2000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct fp_record **records; /* all since the start; those under `forgotten` are not shown */
static size_t count, capacity, forgotten;
static int64_t counts[FP_C_COUNT], base[FP_C_COUNT]; /* base: what was forgotten */

static void start(void) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&changed, &attributes);
}

static void take_lock(void) {
    pthread_once(&once, start);
    pthread_mutex_lock(&lock);
}

/* Under the lock. */
static void add(enum fp_counter counter, int64_t by) {
    counts[counter] += by;
    pthread_cond_broadcast(&changed);
}

void fp_count(enum fp_counter counter, int64_t by) {
    take_lock();
    add(counter, by);
    pthread_mutex_unlock(&lock);
}

/* ---- records -------------------------------------------------------------------------------- */

static void keep(struct fp_record *record) {
    if (count == capacity) {
        capacity = capacity ? capacity * 2 : 256;
        records = realloc(records, capacity * sizeof *records);
        if (!records) abort();
    }
    records[count++] = record;
    record->n = count;
    if (count <= HEADS_KEPT) return;
    struct fp_record *old = records[count - HEADS_KEPT - 1];
    free(old->head);
    old->head = NULL;
}

static enum fp_counter counter_of(enum fp_kind kind) {
    switch (kind) {
    case FP_INSERT: return FP_C_inserts;
    case FP_QUERY: return FP_C_queries;
    case FP_PING: return FP_C_pings;
    default: return FP_C_others;
    }
}

struct fp_record *fp_log_begin(const struct fp_conn *conn, const struct fp_head *head,
                               enum fp_kind kind, const struct fp_rule *rule) {
    struct fp_record *record = calloc(1, sizeof *record);
    char *text = malloc(head->len);
    if (!record || !text) abort();
    memcpy(text, head->text, head->len);
    *record = (struct fp_record){
        .connection = conn->id,
        .on_connection = conn->requests,
        .listener = conn->listener,
        .kind = kind,
        .head = text,
        .head_len = head->len,
        .post = head->post,
        .rule = rule->id,
        .end = "",
        .at_ms = fp_now_ms(),
    };
    fp_param(head, "query_id", record->query_id, sizeof record->query_id);
    fp_param(head, "insert_deduplication_token", record->token, sizeof record->token);
    if (rule->label.at) snprintf(record->label, sizeof record->label, "%s", rule->label.at);
    take_lock();
    keep(record);
    add(FP_C_requests, 1);
    add(FP_C_posts, head->post);
    add(counter_of(kind), 1);
    pthread_mutex_unlock(&lock);
    return record;
}

void fp_log_body(struct fp_record *record, const void *body, size_t len, bool whole) {
    unsigned char sum[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    if (EVP_Digest(len ? body : "", len, sum, &size, EVP_sha256(), NULL) != 1) abort();
    take_lock();
    record->body_bytes = len;
    record->whole = whole;
    for (unsigned i = 0; i < size; i++) sprintf(record->sha256 + 2 * i, "%02x", sum[i]);
    add(FP_C_bodies, whole);
    add(FP_C_body_bytes, (int64_t)len);
    pthread_mutex_unlock(&lock);
}

void fp_log_forwarded(struct fp_record *record) {
    take_lock();
    record->forwarded = true;
    add(FP_C_forwarded, 1);
    pthread_mutex_unlock(&lock);
}

void fp_log_upstream(struct fp_record *record, unsigned status) {
    take_lock();
    record->upstream_status = status;
    pthread_mutex_unlock(&lock);
}

void fp_log_finish(struct fp_record *record, unsigned status, uint64_t sent_bytes,
                   const char *end) {
    take_lock();
    record->status = status;
    record->sent_bytes = sent_bytes;
    record->end = end;
    record->took_ms = fp_now_ms() - record->at_ms;
    record->finished = true;
    add(FP_C_finished, 1);
    add(FP_C_sent_bytes, (int64_t)sent_bytes);
    pthread_mutex_unlock(&lock);
}

/* ---- as JSON -------------------------------------------------------------------------------- */

/* Bytes past ASCII are shown as the code points of the same numbers. */
static void print_text(struct ch_buf *out, const char *text, size_t len) {
    ch_buf_text(out, "\"");
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c < ' ' || c > '~' || c == '"' || c == '\\')
            ch_buf_print(out, "\\u%04x", c);
        else
            ch_buf_add(out, &c, 1);
    }
    ch_buf_text(out, "\"");
}

static void print_head(struct ch_buf *out, const struct fp_record *record) {
    const char *line, *comma = "";
    size_t at = 0, len;
    if (!record->head) return;
    const char *end = memmem(record->head, record->head_len, "\r\n", 2);
    ch_buf_text(out, ",\"line\":");
    print_text(out, record->head, (size_t)(end - record->head));
    ch_buf_text(out, ",\"headers\":[");
    while (fp_head_line(record->head, record->head_len, &at, &line, &len)) {
        ch_buf_text(out, comma);
        print_text(out, line, len);
        comma = ",";
    }
    ch_buf_text(out, "]");
}

static void print_record(struct ch_buf *out, const struct fp_record *r) {
    static const char *const YES[] = {"false", "true"};
    ch_buf_print(
        out,
        "{\"n\":%lu,\"connection\":%lu,\"on_connection\":%lu,\"listener\":\"%s\","
        "\"kind\":\"%s\",\"post\":%s,\"body_bytes\":%zu,\"sha256\":\"%s\",\"whole\":%s,"
        "\"rule\":%lu,\"forwarded\":%s,\"upstream_status\":%u,\"status\":%u,"
        "\"sent_bytes\":%lu,\"finished\":%s,\"ended\":\"%s\",\"at_ms\":%ld,\"took_ms\":%ld",
        r->n, r->connection, r->on_connection, r->listener, fp_kind_name(r->kind), YES[r->post],
        r->body_bytes, r->sha256, YES[r->whole], r->rule, YES[r->forwarded], r->upstream_status,
        r->status, r->sent_bytes, YES[r->finished], r->end, r->at_ms, r->took_ms);
    ch_buf_text(out, ",\"query_id\":");
    print_text(out, r->query_id, strlen(r->query_id));
    ch_buf_text(out, ",\"token\":");
    print_text(out, r->token, strlen(r->token));
    ch_buf_text(out, ",\"label\":");
    print_text(out, r->label, strlen(r->label));
    print_head(out, r);
    ch_buf_text(out, "}\n");
}

void fp_log_print(uint64_t from, struct ch_buf *out) {
    take_lock();
    for (size_t i = from > forgotten ? from : forgotten; i < count; i++)
        print_record(out, records[i]);
    pthread_mutex_unlock(&lock);
}

/* ---- counters ------------------------------------------------------------------------------- */

static const char *const NAMES[] = {
    [FP_C_connections] = "connections",
    [FP_C_open] = "open",
    [FP_C_requests] = "requests",
    [FP_C_posts] = "posts",
    [FP_C_inserts] = "inserts",
    [FP_C_queries] = "queries",
    [FP_C_pings] = "pings",
    [FP_C_others] = "others",
    [FP_C_bodies] = "bodies",
    [FP_C_faults] = "faults",
    [FP_C_held] = "held",
    [FP_C_forwarded] = "forwarded",
    [FP_C_upstream_failures] = "upstream_failures",
    [FP_C_finished] = "finished",
    [FP_C_body_bytes] = "body_bytes",
    [FP_C_sent_bytes] = "sent_bytes",
    [FP_C_tls_failures] = "tls_failures",
};
_Static_assert(sizeof NAMES / sizeof *NAMES == FP_C_COUNT, "a counter has no name");

/* Connections that are open stay so. */
void fp_log_forget(void) {
    take_lock();
    forgotten = count;
    for (int i = 0; i < FP_C_COUNT; i++)
        if (i != FP_C_open) base[i] = counts[i];
    pthread_mutex_unlock(&lock);
}

void fp_counters_print(struct ch_buf *out) {
    take_lock();
    for (int i = 0; i < FP_C_COUNT; i++)
        ch_buf_print(out, "%s\"%s\":%ld", i ? "," : "{", NAMES[i], counts[i] - base[i]);
    pthread_mutex_unlock(&lock);
    ch_buf_text(out, "}\n");
}

static int counter_named(const char *name) {
    for (int i = 0; i < FP_C_COUNT; i++)
        if (strcmp(NAMES[i], name) == 0) return i;
    return FP_FAILED;
}

static struct timespec deadline_after(int64_t ms) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_sec += ms / 1000;
    at.tv_nsec += ms % 1000 * 1000000;
    if (at.tv_nsec >= 1000000000) at.tv_sec++, at.tv_nsec -= 1000000000;
    return at;
}

int fp_await(const char *name, int64_t wanted, bool at_most, int64_t ms) {
    int i = counter_named(name), expired = 0;
    if (i < 0) return FP_FAILED;
    struct timespec deadline = deadline_after(ms);
    take_lock();
    bool reached;
    for (;;) {
        int64_t now = counts[i] - base[i];
        reached = at_most ? now <= wanted : now >= wanted;
        if (reached || expired) break;
        expired = pthread_cond_timedwait(&changed, &lock, &deadline);
    }
    pthread_mutex_unlock(&lock);
    return reached;
}
