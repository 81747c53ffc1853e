/* chute: a ClickHouse ingestion engine. This is its only public header.
 *
 * The region between "cdef begin" and "cdef end" is what LuaJIT's ffi.cdef is generated from
 * (make build writes lua/chute/cdef.lua): plain C declarations, no preprocessor inside.
 *
 * Conventions
 * - Functions that can fail return 0 or a positive answer on success and a negative CHUTE_E…
 *   code on failure; those that return a pointer return NULL on failure. Where a chute_error is
 *   taken it is filled then, and left alone on success. It may be NULL.
 * - Pointer parameters are borrowed for the call unless "taken" is said; texts come as pointer
 *   and length in bytes and need no NUL, unless "NUL-ended" is said.
 * - Sizes are bytes (size_t), durations milliseconds (…_ms), instants unix seconds unless said.
 * - An object belongs to one thread at a time, but for those that say otherwise.
 */
#ifndef CHUTE_H
#define CHUTE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* cdef begin */

/* ---- errors ------------------------------------------------------------------------------- */

enum {
    CHUTE_OK = 0,
    CHUTE_E_ROW = -1,     /* a row or value that its column cannot take */
    CHUTE_E_SCHEMA = -2,  /* a type, column or option that makes no schema */
    CHUTE_E_ARG = -3,     /* a bad argument: the caller's mistake */
    CHUTE_E_FULL = -4,    /* the row does not fit in what is left of the buffer */
    CHUTE_E_BUSY = -5,    /* a bound is reached: try again later */
    CHUTE_E_CLOSED = -6,  /* the object is closed */
    CHUTE_E_NOMEM = -7,   /* memory could not be had */
    CHUTE_E_NETWORK = -8, /* the server could not be reached, or the connection broke */
    CHUTE_E_TIMEOUT = -9, /* the time given ran out */
    CHUTE_E_SERVER = -10, /* the server answered with an error */
    CHUTE_E_SPOOL = -11,  /* the spool folder refused */
    CHUTE_E_SYSTEM = -12  /* the operating system refused: the message says what */
};

enum {
    CHUTE_RETRYABLE = 1, /* the same request may succeed later */
    CHUTE_UNCERTAIN = 2  /* bytes had left: the server may have done it */
};

typedef struct chute_error {
    int32_t kind;   /* CHUTE_E_…; 0 where there is no error */
    int32_t code;   /* ClickHouse's exception code, or 0 */
    int32_t status; /* HTTP status, or 0 */
    uint32_t flags; /* CHUTE_RETRYABLE | CHUTE_UNCERTAIN */
    int32_t column; /* index of the column, or -1 */
    int32_t reserved;
    int64_t row;        /* number of the row, from 1, or 0 */
    char name[64];      /* ClickHouse's exception name, NUL-ended, or "" */
    char host[128];     /* "host:port" of the server, NUL-ended, or "" */
    char message[1024]; /* one line, NUL-ended, cut to fit */
} chute_error;

/* ---- types -------------------------------------------------------------------------------- */

enum {
    CHUTE_TYPE_NOTHING = 0,
    CHUTE_TYPE_UINT8,
    CHUTE_TYPE_UINT16,
    CHUTE_TYPE_UINT32,
    CHUTE_TYPE_UINT64,
    CHUTE_TYPE_UINT128,
    CHUTE_TYPE_UINT256,
    CHUTE_TYPE_INT8,
    CHUTE_TYPE_INT16,
    CHUTE_TYPE_INT32,
    CHUTE_TYPE_INT64,
    CHUTE_TYPE_INT128,
    CHUTE_TYPE_INT256,
    CHUTE_TYPE_BFLOAT16,
    CHUTE_TYPE_FLOAT32,
    CHUTE_TYPE_FLOAT64,
    CHUTE_TYPE_BOOL,
    CHUTE_TYPE_STRING,
    CHUTE_TYPE_FIXED_STRING,
    CHUTE_TYPE_DATE,
    CHUTE_TYPE_DATE32,
    CHUTE_TYPE_DATETIME,
    CHUTE_TYPE_DATETIME64,
    CHUTE_TYPE_TIME,
    CHUTE_TYPE_TIME64,
    CHUTE_TYPE_INTERVAL,
    CHUTE_TYPE_DECIMAL, /* width 4, 8, 16 or 32 */
    CHUTE_TYPE_UUID,
    CHUTE_TYPE_IPV4,
    CHUTE_TYPE_IPV6,
    CHUTE_TYPE_ENUM8,
    CHUTE_TYPE_ENUM16,
    CHUTE_TYPE_NULLABLE,
    CHUTE_TYPE_LOW_CARDINALITY,
    CHUTE_TYPE_ARRAY,
    CHUTE_TYPE_MAP,
    CHUTE_TYPE_TUPLE,
    CHUTE_TYPE_NESTED,
    CHUTE_TYPE_VARIANT,
    CHUTE_TYPE_DYNAMIC,
    CHUTE_TYPE_JSON,
    CHUTE_TYPE_OBJECT,
    CHUTE_TYPE_QBIT,
    CHUTE_TYPE_POINT,
    CHUTE_TYPE_RING,
    CHUTE_TYPE_LINE_STRING,
    CHUTE_TYPE_MULTI_LINE_STRING,
    CHUTE_TYPE_POLYGON,
    CHUTE_TYPE_MULTI_POLYGON,
    CHUTE_TYPE_GEOMETRY,
    CHUTE_TYPE_SIMPLE_AGGREGATE_FUNCTION, /* one child: the type it stores */
    CHUTE_TYPE_AGGREGATE_FUNCTION,
    CHUTE_TYPE_KINDS
};

typedef struct chute_type chute_type;

/* Parses a type in any spelling a server takes (aliases, spacing, case where it does not
 * matter). The error names the place in the text. The caller frees the result. */
chute_type *chute_type_parse(const char *text, size_t len, chute_error *err);
void chute_type_free(chute_type *type); /* taken; NULL is fine */

/* Writes the canonical text, NUL-ended and cut to `capacity`, and returns the full length
 * without the NUL, as snprintf does. */
size_t chute_type_print(const chute_type *type, char *out, size_t capacity);

/* What generated code needs to know of a type: its kind (CHUTE_TYPE_…), its children (borrowed
 * from `type`) and the name of a child (NUL-ended, or NULL where it has none). */
int chute_type_kind(const chute_type *type);
size_t chute_type_count(const chute_type *type);
const chute_type *chute_type_child(const chute_type *type, size_t index);
const char *chute_type_child_name(const chute_type *type, size_t index);

/* ---- cells -------------------------------------------------------------------------------- */

enum {
    CHUTE_CELL_ABSENT = 0, /* no value: the column's default is wanted */
    CHUTE_CELL_NULL,       /* an explicit NULL */
    CHUTE_CELL_NUMBER,     /* num */
    CHUTE_CELL_INT64,      /* i64 */
    CHUTE_CELL_UINT64,     /* u64 */
    CHUTE_CELL_BOOL,       /* u64: 0 or 1 */
    CHUTE_CELL_STRING,     /* ptr, len: borrowed until the call that takes the row returns. Where
                            * `ptr` points must be readable memory even if len is 0: never NULL */
    CHUTE_CELL_LIST,       /* len children from index `first` in the arena: Array, Tuple */
    CHUTE_CELL_PAIRS,      /* len pairs, 2 * len children: key, value, key, value … : Map */
    CHUTE_CELL_OTHER,      /* a value of no use to any column; ptr, len: what it was, as text */
    /* Of a decoder only: as PAIRS, but … */
    CHUTE_CELL_TABLE, /* … each key being one of Lua's: a plain table, if none comes twice */
    CHUTE_CELL_PATHS, /* … the keys being dotted paths: JSON */
    CHUTE_CELL_TYPED  /* two children: a type's text, and a value that is to be written as one */
};

/* One value on its way from Lua to C. */
typedef struct chute_cell {
    union {
        double num;
        int64_t i64;
        uint64_t u64;
        const char *ptr;
        uint32_t first;
    };
    uint32_t len;
    uint32_t kind;
} chute_cell;

/* The cells of one row: the columns' cells first, in order, then the arena of their children.
 * What takes a row refuses with CHUTE_E_ARG one of fewer cells than columns.
 * Growing moves them, so `at` must be read again after chute_cells_reserve. */
typedef struct chute_cells {
    chute_cell *at;
    uint32_t used;     /* cells in use, columns included: where the next child goes */
    uint32_t capacity; /* cells allocated */
} chute_cells;

/* Makes cells for `columns` columns, all absent. NULL: out of memory. */
chute_cells *chute_cells_new(uint32_t columns);
void chute_cells_free(chute_cells *cells); /* taken; NULL is fine */

/* Makes room for `more` cells past `used`. 0, or CHUTE_E_NOMEM past 2^28 cells. */
int chute_cells_reserve(chute_cells *cells, uint32_t more);

/* ---- schemas ------------------------------------------------------------------------------ */

enum {
    CHUTE_FORMAT_ROW_BINARY = 0,
    CHUTE_FORMAT_ROW_BINARY_WITH_NAMES,
    CHUTE_FORMAT_ROW_BINARY_WITH_NAMES_AND_TYPES,
    CHUTE_FORMAT_ROW_BINARY_WITH_DEFAULTS
};

/* A format's number by ClickHouse's name for it, or CHUTE_E_ARG. */
int chute_format_find(const char *name, size_t len);

typedef struct chute_schema chute_schema;

/* A schema without columns. `zone`: the zone of naive date texts in columns that name none.
 * Reference-counted: one reference is
 * the caller's, buffers and streams hold their own. Compiled schemas belong to one thread. */
chute_schema *chute_schema_new(int format, const char *zone, size_t zone_len, chute_error *err);
void chute_schema_free(chute_schema *schema); /* gives the caller's reference back */

/* Adds a column. `unit`: what a plain number counts in date and time columns, as the power of
 * ten of its ticks a second (0 seconds, 3 ms, 6 us, 9 ns). The error names the column. */
int chute_schema_add(chute_schema *schema, const char *name, size_t name_len, const char *type,
                     size_t type_len, uint32_t unit, chute_error *err);

/* How JSON goes, in all columns, since one INSERT has it read in one way: as text (1), with the
 * setting input_format_binary_read_json_as_string, or path by path (0, unless set). Before any
 * default is given. */
void chute_schema_set_json_text(chute_schema *schema, int as_text);

/* Gives the column an own default for absent values: the value in cells->at[0]. */
int chute_schema_set_default(chute_schema *schema, uint32_t column, const chute_cells *cells,
                             chute_error *err);

/* Binds the encoder: after this no column can be added. */
int chute_schema_compile(chute_schema *schema, chute_error *err);

uint32_t chute_schema_count(const chute_schema *schema);
const chute_type *chute_schema_type(const chute_schema *schema, uint32_t column); /* borrowed */

/* The compiled chain as text, one closure a line; NUL-ended and cut, full length as snprintf. */
size_t chute_schema_explain(const chute_schema *schema, char *out, size_t capacity);

/* ---- buffers ------------------------------------------------------------------------------ */

typedef struct chute_buffer chute_buffer;

/* A buffer of rows that grows to hold at most `ceiling` bytes of rows. Holds a reference to the
 * schema, which must be compiled. */
chute_buffer *chute_buffer_new(chute_schema *schema, size_t ceiling, chute_error *err);
void chute_buffer_free(chute_buffer *buffer); /* taken; NULL is fine */

/* Adds one row, whole or not at all. CHUTE_E_ROW: a value its column cannot take, or a row
 * larger than the ceiling; CHUTE_E_FULL: no room left. err->row is the row's number. */
int chute_buffer_add(chute_buffer *buffer, const chute_cells *cells, chute_error *err);

/* Forgets the rows; keeps the memory. */
void chute_buffer_reset(chute_buffer *buffer);

uint64_t chute_buffer_rows(const chute_buffer *buffer);
/* The format's header and the rows, contiguous; `*len` their bytes. Borrowed until the buffer
 * is next changed. */
const char *chute_buffer_data(const chute_buffer *buffer, size_t *len);

/* ---- decoders ----------------------------------------------------------------------------- */

enum {
    CHUTE_DECODE_JSON_TEXT = 1 /* JSON comes as text: output_format_binary_write_json_as_string */
};

typedef struct chute_decoder chute_decoder;

/* A decoder of RowBinaryWithNamesAndTypes. `zone` (NUL-ended; NULL: UTC): whose clock shows a
 * DateTime that names no zone. NULL: out of memory. */
chute_decoder *chute_decoder_new(uint32_t flags, const char *zone);
void chute_decoder_free(chute_decoder *decoder); /* taken; NULL is fine */

/* Hands it the next bytes of the body (copied) and drops those of rows that were read. */
int chute_decoder_feed(chute_decoder *decoder, const char *data, size_t len, chute_error *err);
void chute_decoder_end(chute_decoder *decoder); /* no more bytes will come */

/* 1: the columns stand. 0: more bytes are needed; after the end: there were none at all. Negative:
 * what came cannot be read, nor can what follows. */
int chute_decoder_head(chute_decoder *decoder, chute_error *err);
uint32_t chute_decoder_count(const chute_decoder *decoder); /* columns */
const char *chute_decoder_name(const chute_decoder *decoder, uint32_t column, size_t *len);
const chute_type *chute_decoder_type(const chute_decoder *decoder, uint32_t column);

/* Reads a row. 1: `*cells` holds it, in the form that the columns take (numbers where a double is
 * exact, 64-bit integers, text of all else that is one value), all borrowed until the decoder is
 * used again. 0: more bytes are needed; after the end: that was all. Negative: as above. */
int chute_decoder_next(chute_decoder *decoder, const chute_cells **cells, chute_error *err);

/* ---- compression -------------------------------------------------------------------------- */

enum {
    CHUTE_COMPRESS_NONE = 0,
    CHUTE_COMPRESS_LZ4,       /* an LZ4 frame: Content-Encoding: lz4 */
    CHUTE_COMPRESS_ZSTD,      /* a zstd frame: Content-Encoding: zstd */
    CHUTE_COMPRESS_BLOCK_LZ4, /* ClickHouse's own frames: decompress=1 */
    CHUTE_COMPRESS_BLOCK_ZSTD,
    CHUTE_COMPRESS_BLOCK_NONE
};

typedef struct chute_compressor chute_compressor;

/* A compressor with contexts and an output buffer that it reuses. `level`: 0 is the method's
 * default (zstd 1, lz4 the fast mode). */
chute_compressor *chute_compressor_new(int method, int level, chute_error *err);
void chute_compressor_free(chute_compressor *compressor); /* taken; NULL is fine */

/* Compresses the whole of `data` at once. `*out` is borrowed from the compressor until its next
 * use. Returns the compressed length through `*out_len`. */
int chute_compress(chute_compressor *compressor, const char *data, size_t len, const char **out,
                   size_t *out_len, chute_error *err);

/* ---- pools -------------------------------------------------------------------------------- */

/* One name and value: a setting, a parameter, a header. NUL-ended, borrowed. */
typedef struct chute_pair {
    const char *name;
    const char *value;
} chute_pair;

/* Which host serves next. */
enum {
    CHUTE_HOSTS_ROUND_ROBIN = 0,
    CHUTE_HOSTS_RANDOM,
    CHUTE_HOSTS_IN_ORDER, /* the first that lives */
    CHUTE_HOSTS_LEAST_BUSY
};

/* How a pool says who it is. */
enum {
    CHUTE_AUTH_HEADERS = 0, /* X-ClickHouse-User, X-ClickHouse-Key */
    CHUTE_AUTH_BASIC,       /* Authorization: Basic */
    CHUTE_AUTH_BEARER       /* Authorization: Bearer, with `token` */
};

/* What a pool is opened with. Texts are NUL-ended and copied; NULL where not given. A zero
 * number asks for the default named beside it. */
typedef struct chute_pool_config {
    const char *url; /* http://host:port/, https://…, chdb:PATH, file:DIR */
    const char *user;
    const char *password;
    const char *database;
    const char *libchdb;  /* chdb: path of libchdb.so; NULL: CHUTE_LIBCHDB, else the loader's way */
    uint32_t size;        /* connections kept, default 4 */
    uint32_t compressors; /* compressor threads, default 1 */
    uint32_t connect_ms;  /* time to connect, default 5000 */
    uint32_t timeout_ms;  /* time for a whole request, default 300000 */
    uint32_t strategy;    /* CHUTE_HOSTS_… */
    const char *const *urls; /* several hosts, in place of url */
    size_t urls_count;
    uint32_t stall_ms; /* time in which no byte of a body can be sent, default 30000 */
    uint32_t auth;     /* CHUTE_AUTH_… */
    uint32_t insecure; /* 1: https: takes any certificate */
    const char *token;
    const char *ca, *cert, *key; /* PEM files: authorities in place of the system's; ours */
    const char *server_name; /* https: whose certificate is wanted, where not the URL's host's */
    const char *proxy;       /* URL; NULL: as the environment says, "": none */
    const char *unix_socket; /* path of a socket to send to, whatever host the URL names */
    const char *const *roles;
    size_t roles_count;
    const chute_pair *settings; /* of every statement; they win over the URL's */
    size_t settings_count;
} chute_pool_config;

typedef struct chute_pool chute_pool;

/* Opens a pool and starts its threads; nothing is sent yet. Thread-safe from here on.
 * Reference-counted: streams hold their own. */
chute_pool *chute_pool_open(const chute_pool_config *config, chute_error *err);

/* Gives the caller's reference back. With the last one requests under way are cancelled (their
 * owners are told), connections closed and threads joined. */
void chute_pool_close(chute_pool *pool);

/* Why an attempt to deliver a batch was not the last one. */
enum {
    CHUTE_RETRY_NETWORK = 0, /* not reached, or broken off */
    CHUTE_RETRY_TIMEOUT,
    CHUTE_RETRY_BUSY, /* told to come later: 429, 503, too many of something */
    CHUTE_RETRY_SERVER,
    CHUTE_RETRY_REASONS
};

enum { CHUTE_TIME_BUCKETS = 9 };

/* How long something took, how often. */
typedef struct chute_histogram {
    uint64_t up_to[9]; /* bucket i: how many took at most 4^i ms */
    uint64_t count;
    uint64_t total_ms;
} chute_histogram;

/* Attempts that are over. */
enum {
    CHUTE_METER_QUERY_OK = 0,
    CHUTE_METER_QUERY_FAILED,
    CHUTE_METER_INSERT_OK,
    CHUTE_METER_INSERT_FAILED
};

typedef struct chute_pool_stats {
    uint64_t retries[4]; /* by CHUTE_RETRY_… */
    uint32_t hosts, hosts_up;
    uint64_t requests[4];           /* by CHUTE_METER_… */
    uint64_t bytes_raw, bytes_sent; /* of bodies that were taken, before and after compression */
    chute_histogram wait;           /* from being ready to being sent */
    chute_histogram compress;       /* of one body */
    chute_histogram send;           /* from being sent to the outcome */
} chute_pool_stats;
void chute_pool_stats_read(chute_pool *pool, chute_pool_stats *out);

/* What is known of a host, by its place in the list. */
typedef struct chute_host_stats {
    char place[256]; /* "host:port", NUL-ended */
    uint64_t sent;   /* attempts begun */
    uint64_t failed; /* those that broke, timed out or met a gateway's refusal */
    uint32_t in_flight;
    uint32_t up; /* 0: ejected */
} chute_host_stats;
int chute_pool_host_stats(chute_pool *pool, uint32_t host, chute_host_stats *out); /* 0, or -3 */

/* A statement to send. Everything is borrowed for the call and copied. */
typedef struct chute_query {
    const char *sql;
    size_t sql_len;
    const char *body; /* data after the statement, or NULL */
    size_t body_len;
    const chute_pair *settings;
    size_t settings_count;
    const chute_pair *params; /* {name:Type} in the statement */
    size_t params_count;
    const chute_pair *headers; /* extra HTTP headers */
    size_t headers_count;
    const char *format;  /* default_format, or NULL */
    int32_t compression; /* CHUTE_COMPRESS_…: how `body` is to be compressed on the way */
    int32_t level;
    uint32_t sql_in_body; /* 1: put the statement at the head of the body, not in the URL */
    uint32_t timeout_ms;  /* 0: the pool's */
    uint32_t stream;      /* 1: the answer is to be taken by chute_request_take, as it comes; then
                           * timeout_ms is of a time without a byte */
    uint32_t
        compress_response; /* 1: the answer may come compressed; it is given as it was before */
    uint32_t progress;     /* 1: the server is to tell of its progress meanwhile */
} chute_query;

typedef struct chute_request chute_request;

/* Hands a statement to the pool and returns at once; the caller frees the request. */
chute_request *chute_pool_query(chute_pool *pool, const chute_query *query, chute_error *err);

/* Hands a GET of /ping to the pool, likewise. For chdb: a SELECT 1. */
chute_request *chute_pool_ping(chute_pool *pool, chute_error *err);

/* Waits up to `timeout_ms` (0: only looks). 1: done, or bytes of a stream can be taken; 0: not
 * yet. */
int chute_request_wait(chute_request *request, uint32_t timeout_ms);

/* Takes what has come of a stream's answer. 1: `*data`, borrowed until the next call; 0: nothing
 * yet; 2: that was all. Negative: the request's error; what was taken before was in order. About
 * 1 MiB comes ahead of what is taken. */
int chute_request_take(chute_request *request, const char **data, size_t *len, chute_error *err);

/* Copies what the server last told of its progress (JSON, NUL-ended, cut) and returns its length: 0
 * where it told nothing. */
size_t chute_request_progress(chute_request *request, char *out, size_t capacity);

/* What a finished request brought. Texts are NUL-ended, all borrowed from the request. */
typedef struct chute_result {
    const char *body;
    size_t body_len;
    const char *summary;  /* X-ClickHouse-Summary, JSON, or "" */
    const char *query_id; /* as the server told it, else as it was sent */
    const char *format;   /* X-ClickHouse-Format, or "" */
    const char *timezone; /* X-ClickHouse-Timezone, or "" */
    int32_t status;       /* HTTP status, 0 for chdb */
    int32_t reserved;
} chute_result;

/* 0 and `*result`, or the request's error. Only after chute_request_wait said 1. A stream's body
 * is not in it, nor is the error of one that had begun: chute_request_take tells both. */
int chute_request_result(chute_request *request, chute_result *result, chute_error *err);
void chute_request_free(chute_request *request); /* taken; cancels what is under way */

/* ---- streams ------------------------------------------------------------------------------ */

enum {
    CHUTE_OVERFLOW_ERROR = 0,
    CHUTE_OVERFLOW_BLOCK,
    CHUTE_OVERFLOW_DROP_NEW,
    CHUTE_OVERFLOW_DROP_OLD
};

enum {
    CHUTE_DURABILITY_PROCESS = 0, /* what the spool holds outlives the process */
    CHUTE_DURABILITY_FSYNC        /* and sealed batches the machine */
};

/* Bits of what chute_stream_insert returns. */
enum {
    CHUTE_INSERT_ACCEPTED = 1,
    CHUTE_INSERT_SEALED = 2, /* the row sealed a batch, or one was sealed before it */
    CHUTE_INSERT_RESULTS = 4 /* batches were acknowledged or failed since the last stats call */
};

/* Policy of a stream. A zero asks for the default named beside it. */
typedef struct chute_stream_config {
    const char *table; /* NUL-ended, "db.table" or "table", parts quoted by backquotes or not */
    const chute_pair *settings;
    size_t settings_count;
    size_t batch_bytes;   /* of rows, default 8 MiB */
    size_t pending_bytes; /* of sealed rows not yet acknowledged, default 256 MiB */
    uint32_t batch_rows;  /* default 100000, at most 1048449: one block at the server */
    uint32_t age_ms;      /* from a batch's first row, default 1000 */
    uint32_t overflow;    /* CHUTE_OVERFLOW_… */
    int32_t compression;  /* CHUTE_COMPRESS_… */
    int32_t level;
    uint32_t sql_in_body;    /* 1: the statement at the head of the body, not in the URL */
    uint32_t attempts;       /* to send a batch, 0: no limit */
    uint32_t deadline_ms;    /* from a batch's first attempt, 0: none */
    uint32_t base_ms;        /* of the time between attempts, default 100: it doubles */
    uint32_t max_ms;         /* of the same, default 30000 */
    const char *spool;       /* NUL-ended path of the folder, or NULL: batches live in memory */
    uint32_t durability;     /* CHUTE_DURABILITY_… */
    uint32_t spool_fallback; /* 1: where the spool refuses, batches live in memory */
} chute_stream_config;

/* Counters of a stream, taken under its lock: offered = accepted + rejected + filtered +
 * refused, and accepted + recovered = acked + dropped + parked + pending, at every instant. In
 * rows unless said. */
typedef struct chute_stream_stats {
    uint64_t offered;
    uint64_t accepted;
    uint64_t rejected; /* bad rows */
    uint64_t filtered; /* dropped by the schema's map */
    uint64_t refused;  /* no room, or closed */
    uint64_t acked;
    uint64_t dropped;   /* by overflow policy */
    uint64_t parked;    /* their batch was refused by the server or could not be sent */
    uint64_t pending;   /* accepted, neither acked, dropped nor parked */
    uint64_t open_rows; /* of pending: in the open batch */
    uint64_t batches_sealed;
    uint64_t batches_acked;
    uint64_t batches_parked;
    uint64_t batches_in_flight; /* sealed, outcome unknown */
    uint64_t pending_bytes;     /* of sealed batches in flight and parked */
    uint64_t bytes_raw;         /* of acknowledged batches, before compression */
    uint64_t bytes_sent;        /* of acknowledged batches, as they went */
    uint64_t retries;           /* attempts that failed and were to be repeated */
    uint64_t recovered;         /* found in the spool, left by other processes */
    uint64_t unspooled;         /* of pending and parked: in memory, as the spool refused */
} chute_stream_stats;

typedef struct chute_stream chute_stream;

/* Opens a stream; it holds references to schema and pool. Inserts come from one thread. */
chute_stream *chute_stream_open(chute_schema *schema, chute_pool *pool,
                                const chute_stream_config *config, chute_error *err);

/* Encodes and commits one row, sealing by policy: never waits. Returns CHUTE_INSERT_… bits, or
 * CHUTE_E_ROW, CHUTE_E_BUSY (overflow), CHUTE_E_SPOOL, CHUTE_E_CLOSED. */
int chute_stream_insert(chute_stream *stream, const chute_cells *cells, chute_error *err);

/* Counts `rows` that never reached insert: CHUTE_E_ROW as rejected, 0 as filtered. */
void chute_stream_count(chute_stream *stream, int as, uint64_t rows);

/* Seals the open batch, if it has rows, and hands it to the pool: 0, or CHUTE_E_CLOSED. */
int chute_stream_flush(chute_stream *stream, chute_error *err);

/* Rows and bytes of the open batch and its age in milliseconds. */
typedef struct chute_stream_open_batch {
    uint64_t rows;
    uint64_t bytes;
    uint64_t age_ms;
} chute_stream_open_batch;
void chute_stream_peek(chute_stream *stream, chute_stream_open_batch *out);

/* Waits until nothing is in flight, or with `for_room` 1 until insert has room again, if that comes
 * first: parked batches take room and give none. 1: so it is; 0: the time ran out. */
int chute_stream_wait(chute_stream *stream, int for_room, uint32_t timeout_ms);

/* Seals the open batch and waits until all sealed batches are on the disk. 0; or CHUTE_E_SPOOL (no
 * spool, or the disk refused), CHUTE_E_TIMEOUT. */
int chute_stream_sync(chute_stream *stream, uint32_t timeout_ms, chute_error *err);

void chute_stream_stats_read(chute_stream *stream, chute_stream_stats *out);

/* The error of the attempt that failed last, and how many have: 0 where none has. */
uint64_t chute_stream_last_error(chute_stream *stream, chute_error *err);

/* Refuses further rows and hands the open batch to the pool. Idempotent; wait afterwards. */
void chute_stream_shut(chute_stream *stream);

/* A batch that is kept because it could not be delivered, by its place from 0 on, the oldest first:
 * 1, or 0: there is none. */
typedef struct chute_parked {
    uint64_t rows, bytes; /* bytes: before compression */
    uint32_t attempts, reserved;
    char token[40]; /* its deduplication token, NUL-ended */
    chute_error error;
} chute_parked;
int chute_stream_parked(chute_stream *stream, uint64_t which, chute_parked *out);

/* Sends all parked batches once more, with their tokens. Returns how many; 0 of a closed stream. */
uint64_t chute_stream_retry_parked(chute_stream *stream);

/* Lets no attempt begin any more: batches that wait for one end as closed. */
void chute_stream_give_up(chute_stream *stream);

/* Of a shut stream with a spool: leaves what is not yet delivered to the spool, for another
 * process or stream. Waits for the stream's threads, not for servers; counters stay readable.
 * Nothing without a spool. */
void chute_stream_leave(chute_stream *stream);

/* Frees it (taken; NULL is fine). Batches still in flight go on to their end without it. */
void chute_stream_free(chute_stream *stream);

/* ---- spools ------------------------------------------------------------------------------- */

enum {
    CHUTE_PLACE_LIVE = 1, /* in the folder of a stream that lives */
    CHUTE_PLACE_LEFT,     /* in a folder whose owner is gone: the next stream sends it */
    CHUTE_PLACE_DEAD,     /* refused by the server */
    CHUTE_PLACE_BAD       /* no batch, or a damaged one */
};

enum {
    CHUTE_BATCH_UNREADABLE = 0, /* `reason` says why */
    CHUTE_BATCH_FREE,           /* no batch is in the file now */
    CHUTE_BATCH_OPEN,           /* takes rows */
    CHUTE_BATCH_SEALED,
    CHUTE_BATCH_ATTEMPTED /* maybe sent */
};

/* A batch file of a spool. Texts are NUL-ended. */
typedef struct chute_spool_entry {
    char path[256]; /* within the spool */
    char token[40];
    char reason[256]; /* unreadable: why */
    int32_t place;    /* CHUTE_PLACE_… */
    int32_t state;    /* CHUTE_BATCH_… */
    uint64_t rows;    /* that can be trusted */
    uint64_t bytes;   /* of header and rows */
    uint64_t file_bytes;
    double opened;    /* unix time in seconds */
    uint32_t damaged; /* 1: rows are missing behind them */
    uint32_t reserved;
} chute_spool_entry;

typedef struct chute_spool_list chute_spool_list;

/* Lists the batch files of a spool: safe while streams use it. `verify` 1: reads their rows; else
 * `rows` is what the file claims. */
chute_spool_list *chute_spool_list_new(const char *root, int verify, chute_error *err);
int chute_spool_list_next(chute_spool_list *list, chute_spool_entry *entry); /* 1, or 0: no more */
void chute_spool_list_free(chute_spool_list *list); /* taken; NULL is fine */

/* A batch file read whole. Texts without NUL, all borrowed. */
typedef struct chute_spool_batch chute_spool_batch;
chute_spool_batch *chute_spool_batch_read(const char *root, const char *path, chute_error *err);
void chute_spool_batch_free(chute_spool_batch *batch); /* taken; NULL is fine */
/* The format's header (`*head` bytes) and the rows. */
const char *chute_spool_batch_data(const chute_spool_batch *batch, size_t *len, size_t *head);
const char *chute_spool_batch_insert(const chute_spool_batch *batch); /* NUL-ended: its target */
const char *chute_spool_batch_format(const chute_spool_batch *batch); /* NUL-ended */
/* Setting `index` from 0 on, NUL-ended; 0: there is none. */
int chute_spool_batch_setting(const chute_spool_batch *batch, uint32_t index, const char **name,
                              const char **value);
int chute_spool_batch_column(const chute_spool_batch *batch, uint32_t index, const char **name,
                             size_t *name_len, const char **type, size_t *type_len);

/* Puts a refused batch, by its path, back among those that are sent; or removes one that was
 * refused or is bad, with its note. CHUTE_E_ARG: no such path. */
int chute_spool_retry(const char *root, const char *path, chute_error *err);
int chute_spool_remove(const char *root, const char *path, chute_error *err);

/* cdef end */

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
