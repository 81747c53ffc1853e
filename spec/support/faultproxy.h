/* faultproxy: a TCP and TLS proxy between a client and a real ClickHouse that fails where it is
 * told.
 *
 * Its parts, one file each: io (bytes over a socket or TLS, pauses, ends), head (a request's head),
 * rule (when to fail, and how), sender (an answer's bytes, paced and cut), canned (answers of our
 * own), upstream (the real server), exchange (a request from its first byte to its end), log (what
 * came, counted), control (what specs ask and order), listen (ports), tls and cert, and
 * faultproxy.c (main). One thread a connection. Bytes that grow are chserver's buf.
 *
 * A request is read whole and only then sent on, over a connection of its own: what a rule drops
 * never reaches the server, and nothing reaches it twice.
 */
#ifndef FAULTPROXY_H
#define FAULTPROXY_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "chserver.h"

/* ---- io ------------------------------------------------------------------------------------- */

struct fp_conn {
    int fd;                /* non-blocking; -1 once ended */
    int wake;              /* an eventfd: readable once the connection is to be reset */
    SSL *ssl;              /* or NULL */
    SSL_CTX *tls;          /* what to shake hands with, or NULL; borrowed */
    const char *listener;  /* "plain", "unix" or a certificate's name; borrowed */
    uint64_t id, requests; /* requests: begun on this connection */
    int64_t idle_ms;       /* how long the next request may take to begin */
    struct ch_buf in;      /* read, not yet used */
    struct fp_conn *next, *before;
};

enum { FP_FAILED = -1, FP_TIMEOUT = -2 };

/* Reads at least a byte: how many, 0 at the end, FP_FAILED, or FP_TIMEOUT after ms (-1: never). */
ssize_t fp_read(struct fp_conn *conn, void *to, size_t len, int64_t ms);
/* Reads up to len bytes more into conn->in; as fp_read. */
ssize_t fp_fill(struct fp_conn *conn, size_t len, int64_t ms);
/* Takes the first bytes of conn->in away. */
void fp_consume(struct fp_conn *conn, size_t len);
int fp_write(struct fp_conn *conn, const void *bytes, size_t len);
/* Waits for a descriptor: 1, 0 after ms (-1: never), FP_FAILED where the connection is to be reset.
 */
int fp_wait(struct fp_conn *conn, int fd, short events, int64_t ms);
int fp_handshake(struct fp_conn *conn);
/* Whether the client has closed its side. */
bool fp_left(struct fp_conn *conn);
/* Lets ms pass, whether the client stays or not. */
int fp_pause(struct fp_conn *conn, int64_t ms);
/* Waits for fp_release; FP_FAILED where the client leaves first. */
int fp_hold(struct fp_conn *conn);
void fp_release(void);
void fp_reset(struct fp_conn *conn); /* RST */
void fp_close(struct fp_conn *conn); /* FIN */
/* Closes so that what was sent arrives although the client still sends. */
void fp_close_late(struct fp_conn *conn);
int64_t fp_now_ms(void);

/* ---- head ----------------------------------------------------------------------------------- */

enum fp_kind { FP_ANY, FP_INSERT, FP_QUERY, FP_PING, FP_OTHER };

struct fp_head {
    const char *text; /* up to and with the empty line; borrowed */
    size_t len;
    const char *target;
    size_t method_len, target_len;
    bool post, chunked, expect, close;
    size_t length; /* of the body */
};

int fp_head_parse(struct fp_head *head, const char *text, size_t len);
/* The end of a head in the text, or 0. */
size_t fp_head_end(const char *text, size_t len);
/* The next header line from *at, without its end; false after the last. */
bool fp_head_line(const char *text, size_t len, size_t *at, const char **line, size_t *line_len);
bool fp_line_is(const char *line, size_t len, const char *name);
/* The value of a header as text, "" where there is none. */
void fp_header(const char *text, size_t len, const char *name, char *out, size_t size);
/* A parameter of the URL, decoded and cut to size; false where it is missing. */
bool fp_param(const struct fp_head *head, const char *name, char *out, size_t size);
/* body: its first bytes, for SQL that stands there. */
enum fp_kind fp_kind_of(const struct fp_head *head, const char *body, size_t len);
const char *fp_kind_name(enum fp_kind kind);

/* ---- rule ----------------------------------------------------------------------------------- */

enum fp_at { FP_AT_REQUEST, FP_AT_ACCEPT, FP_AT_FIRST, FP_AT_HEAD, FP_AT_BODY, FP_AT_ANSWER };
enum fp_action { FP_NONE, FP_RESET, FP_CLOSE, FP_HOLD, FP_PAUSE };
enum fp_framing {
    FP_LENGTH,
    FP_SHORT,
    FP_CHUNKED,
    FP_TRAILERS,
    FP_UNENDED,
    FP_BROKEN,
    FP_UNTIL_CLOSE
};
enum fp_continue { FP_ONCE, FP_TWICE, FP_LATE, FP_NEVER };
enum { FP_UNSET = -1, FP_END = -2 }; /* of numbers; FP_END is for cut */

struct fp_text {
    char *at;
    size_t len;
};

/* See control for the words. Rules are never freed: an exchange keeps a copy with its texts. */
struct fp_rule {
    uint64_t id;
    int64_t seen, fired;
    int kind, at, action, framing, expect, connection;
    int64_t nth, every, after, times, percent, reused; /* when */
    int64_t bytes, ms, cut, read_rate, step, step_ms;  /* where, how fast */
    int64_t status, size, http10, advertise, idle_ms;  /* what is answered */
    struct fp_text contains, listener, label, reason, header, body, raw, trailer, interim;
    struct fp_rule *next;
};

/* Adds rules, one a line; FP_FAILED and a message where one is wrong, and none is added then. */
int fp_rules_add(const char *text, size_t len, struct ch_buf *out);
void fp_rules_clear(void);
void fp_rules_print(struct ch_buf *out);
/* Picks the first rule that fires at a connection's accept or a request's first byte (head NULL),
 * or later in a request. All are told of it: `seen` counts what a rule matched. */
bool fp_rules_pick(enum fp_at at, const struct fp_conn *conn, const struct fp_head *head,
                   enum fp_kind kind, struct fp_rule *out);
bool fp_rule_answers(const struct fp_rule *rule);
void fp_rule_unset(struct fp_rule *rule);

/* ---- log ------------------------------------------------------------------------------------ */

/* Their names, the same, are in log. */
enum fp_counter {
    FP_C_connections,
    FP_C_open, /* now */
    FP_C_requests,
    FP_C_posts,
    FP_C_inserts,
    FP_C_queries,
    FP_C_pings,
    FP_C_others,
    FP_C_bodies, /* that came whole */
    FP_C_faults, /* rules that fired */
    FP_C_held,
    FP_C_forwarded,
    FP_C_upstream_failures,
    FP_C_finished,
    FP_C_body_bytes,
    FP_C_sent_bytes,
    FP_C_tls_failures,
    FP_C_COUNT
};

struct fp_record {
    uint64_t n, connection, on_connection;
    const char *listener;
    enum fp_kind kind;
    char *head; /* NULL once it is old */
    size_t head_len;
    char query_id[128], token[256], label[64], sha256[65];
    size_t body_bytes;
    uint64_t rule; /* 0: none */
    bool post, whole, forwarded, finished;
    unsigned upstream_status, status;
    uint64_t sent_bytes;
    const char *end; /* "kept", "closed", "reset", "left" */
    int64_t at_ms, took_ms;
};

void fp_count(enum fp_counter counter, int64_t by);
struct fp_record *fp_log_begin(const struct fp_conn *conn, const struct fp_head *head,
                               enum fp_kind kind, const struct fp_rule *rule);
void fp_log_body(struct fp_record *record, const void *body, size_t len, bool whole);
void fp_log_forwarded(struct fp_record *record);
void fp_log_upstream(struct fp_record *record, unsigned status);
void fp_log_finish(struct fp_record *record, unsigned status, uint64_t sent_bytes, const char *end);
void fp_log_print(uint64_t from, struct ch_buf *out);
void fp_log_forget(void);
void fp_counters_print(struct ch_buf *out);
/* Waits for a counter to reach a count, or to fall to it: 1, 0 after ms, FP_FAILED for a bad name.
 */
int fp_await(const char *counter, int64_t count, bool at_most, int64_t ms);

/* ---- an answer ------------------------------------------------------------------------------ */

/* Where an answer's bytes go: paced, and cut, as the rule has it. */
struct fp_sender {
    struct fp_conn *conn;
    const struct fp_rule *rule;
    int64_t cut; /* FP_END: after the last byte */
    bool acted;  /* the rule's action was done */
    uint64_t sent;
    const char *end; /* why the connection ended, or NULL */
};

struct fp_exchange {
    struct fp_conn *conn;
    struct fp_head head;
    char *head_text; /* taken */
    enum fp_kind kind;
    struct ch_buf body;
    struct fp_rule rule; /* all unset where none fired */
    struct fp_record *record;
    struct fp_sender sender;
    unsigned status; /* as sent */
    bool keep;       /* the connection, after the answer */
};

/* FP_FAILED: the connection has ended, as sender->end says. */
int fp_send(struct fp_sender *sender, const void *bytes, size_t len);
int fp_send_text(struct fp_sender *sender, const char *text);
/* What the rule wants done after the last byte, or never came to. */
int fp_send_end(struct fp_sender *sender);
/* What comes before an answer's head: interim ones. */
int fp_begin_answer(struct fp_exchange *x);
/* Connection, Keep-Alive and the empty line that end an answer's head. */
void fp_end_head(struct fp_exchange *x, struct ch_buf *head);
int fp_answer_canned(struct fp_exchange *x);
/* Sends the request on and the answer back. */
int fp_forward(struct fp_exchange *x);
void fp_upstream_set(uint16_t port);

/* Serves a connection to its end. */
void fp_serve(struct fp_conn *conn);

/* ---- main, control, listen, tls ------------------------------------------------------------- */

struct fp_options {
    const char *address, *unix_path, *certificates;
    uint16_t port;
    unsigned keep_alive_s, receive_buffer, seed;
};
extern struct fp_options fp_options;

enum fp_mode { FP_OPEN, FP_REFUSE, FP_FULL };

/* Opens all listeners and prints their ports. */
int fp_listen_start(void);
/* reset: also every open connection. */
int fp_listen_mode(enum fp_mode mode, bool reset);
void fp_reset_all(void);
/* The port that control listens on, or FP_FAILED. */
int fp_control_start(void);

enum { FP_CERTIFICATES = 5 };
extern const char *const fp_certificate_names[FP_CERTIFICATES];
/* Writes an authority, servers' certificates and a client's into the folder. */
int fp_certificates_make(const char *folder);
/* The context that a server of that name shakes hands with, or NULL. */
SSL_CTX *fp_tls_context(const char *folder, const char *name);

#endif
