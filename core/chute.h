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
    CHUTE_CELL_STRING,     /* ptr, len: borrowed until the call that takes the row returns */
    CHUTE_CELL_LIST,       /* len children from index `first` in the arena: Array, Tuple */
    CHUTE_CELL_PAIRS,      /* len pairs, 2 * len children: key, value, key, value … : Map */
    CHUTE_CELL_OTHER       /* a value of no use to any column; ptr, len: what it was, as text */
};

/* One value on its way from Lua to C. */
typedef struct chute_cell {
    union {
        double num;
        int64_t i64;
        uint64_t u64;
        const char *ptr;
        uint64_t first;
    };
    uint32_t len;
    uint32_t kind;
} chute_cell;

/* The cells of one row: the columns' cells first, in order, then the arena of their children.
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

/* cdef end */

#ifdef __cplusplus
}
#endif

#endif
