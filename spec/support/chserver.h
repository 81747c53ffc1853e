/* chserver: ClickHouse's HTTP interface over libchdb, the judge that specs send their rows to.
 *
 * Its parts, one file each: buf (bytes that grow), body (what a request's body decodes to), sql
 * (where an INSERT's data begins), engine (libchdb), reply (errors, status, compression), control
 * (counters for specs), http (a request from its first byte to its answer), and chserver.c (main).
 * It shares no code with the engine under test: a judge must be able to disagree.
 */
#ifndef CHSERVER_H
#define CHSERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ClickHouse's exception codes that the server itself raises. */
enum {
    CH_NOT_IMPLEMENTED = 48,
    CH_SYNTAX_ERROR = 62,
    CH_UNKNOWN_TYPE_OF_QUERY = 78,
    CH_REQUIRED_PASSWORD = 194,
    CH_QUERY_ALREADY_RUNNING = 216,
    CH_CANNOT_DECOMPRESS = 271,
    CH_TOO_LARGE_COMPRESSED = 307,
    CH_AUTHENTICATION_FAILED = 516,
    CH_ZSTD_DECODER_FAILED = 561,
    CH_LZ4_DECODER_FAILED = 617,
    CH_SYSTEM = 1000 /* STD_EXCEPTION */
};

/* ---- buf: bytes that grow. Out of memory ends the process: it is a test server. ------------ */

struct ch_buf {
    char *at;
    size_t len;
    size_t capacity;
};

void ch_buf_reserve(struct ch_buf *buf, size_t more);
void ch_buf_add(struct ch_buf *buf, const void *bytes, size_t len);
void ch_buf_text(struct ch_buf *buf, const char *text);
void ch_buf_print(struct ch_buf *buf, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void ch_buf_free(struct ch_buf *buf);

/* An exception: code 0 is none. The text is the whole answer, "Code: N. DB::Exception: …". */
struct ch_error {
    int code;
    struct ch_buf text;
};

/* Fills the error and returns -1. The server's version is appended by the reply. */
int ch_fail(struct ch_error *err, int code, const char *name, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* ---- body ----------------------------------------------------------------------------------- */

/* Replaces the body with what its Content-Encoding ("zstd", "lz4") holds. */
int ch_body_decode(struct ch_buf *body, const char *encoding, struct ch_error *err);
/* Replaces the body, a run of ClickHouse's compressed blocks, with what they hold. */
int ch_body_unframe(struct ch_buf *body, struct ch_error *err);
/* Appends the bytes as compressed blocks, LZ4, of at most 1 MiB each. */
void ch_body_frame(struct ch_buf *out, const char *bytes, size_t len);
/* CityHash128 v1.0.2: out[0] is the low half. */
void ch_cityhash128(const char *bytes, size_t len, uint64_t out[2]);

/* ---- sql ------------------------------------------------------------------------------------ */

struct ch_sql {
    bool has_data;      /* an INSERT whose rows follow the statement */
    size_t infile_at;   /* where FROM INFILE belongs */
    size_t format_at;   /* where FORMAT or VALUES starts */
    size_t data_at;     /* where the rows start */
    const char *format; /* the format named, borrowed from the text, or NULL */
    size_t format_len;
};

/* Reads one statement as a server does, and refuses what a server refuses before it runs it. */
int ch_sql_scan(const char *text, size_t len, struct ch_sql *sql, struct ch_error *err);

/* ---- engine --------------------------------------------------------------------------------- */

/* A name and value of the request's URL; both borrowed. */
struct ch_pair {
    const char *name;
    size_t name_len;
    const char *value;
    size_t value_len;
};

struct ch_pairs {
    struct ch_pair *at;
    size_t count;
};

void ch_pairs_add(struct ch_pairs *pairs, struct ch_pair pair);

struct ch_query {
    const char *database;     /* or NULL */
    const char *format;       /* the format of the answer where the SQL names none */
    struct ch_pairs settings; /* each one SET before the query */
    struct ch_pairs params;   /* {name:Type} */
    bool readonly;            /* a GET: reads only, but may change settings */
    const char *sql;
    size_t sql_len;
    const struct ch_sql *scanned;
    const char *data; /* an INSERT's rows, or NULL */
    size_t data_len;
};

struct ch_result {
    struct ch_buf body;
    uint64_t read_rows, read_bytes, written_rows, written_bytes;
};

extern char ch_version[64], ch_timezone[64]; /* known once the engine is open */

/* Loads libchdb and opens the folder. On failure prints why and returns -1. */
int ch_engine_open(const char *library, const char *folder);
int ch_engine_run(const struct ch_query *query, struct ch_result *result, struct ch_error *err);
void ch_engine_close(void);

/* ---- reply ---------------------------------------------------------------------------------- */

unsigned ch_status_of(int code);
const char *ch_content_type(const char *format, size_t len);
/* Picks from an Accept-Encoding header: "zstd", "lz4", or NULL for as it is. */
const char *ch_pick_encoding(const char *accepted);
void ch_encode(struct ch_buf *body, const char *encoding);

/* ---- control -------------------------------------------------------------------------------- */

/* Counts a request that reached SQL; false where its query_id is running already. */
bool ch_control_begin(const char *query_id, bool post, size_t body_bytes);
void ch_control_end(const char *query_id, unsigned status, uint64_t written_rows);
void ch_control_connection(void);
/* Answers a path under /_control/; false where there is no such thing. */
bool ch_control_answer(const char *path, const char *query_id, struct ch_buf *out);

/* ---- http ----------------------------------------------------------------------------------- */

struct ch_options {
    const char *user;     /* NULL: anyone */
    const char *password; /* "" where none */
    unsigned keep_alive_s;
    uint16_t port; /* 0: any free one */
};

struct MHD_Daemon;
struct MHD_Daemon *ch_http_start(const struct ch_options *options);

#endif
