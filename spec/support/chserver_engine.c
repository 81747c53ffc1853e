/* engine: queries run by libchdb, one connection a query.
 *
 * A libchdb connection is a session (database, settings), costs 0.1 ms and runs beside others, so
 * each request has its own and leaves nothing behind. The first one stays open until the end: it
 * keeps the engine up. An INSERT's rows go through a memfd and FROM INFILE, since libchdb cuts
 * data that stands in the query at its first blank line.
 */
#include "chserver.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct chdb_session *chdb_connection; /* the handle queries take */
typedef struct chdb_result chdb_result;

static struct {
    chdb_connection *(*connect)(int argc, char **argv);
    void (*close)(chdb_connection *conn);
    chdb_result *(*query)(chdb_connection conn, const char *sql, size_t len, const char *format,
                          size_t format_len, const char *const *names, const size_t *name_lens,
                          const char *const *values, const size_t *value_lens, size_t count);
    void (*destroy)(chdb_result *result);
    char *(*buffer)(chdb_result *result);
    size_t (*length)(chdb_result *result);
    const char *(*error)(chdb_result *result);
    uint64_t (*rows_read)(chdb_result *result);
    uint64_t (*bytes_read)(chdb_result *result);
    uint64_t (*rows_written)(chdb_result *result);
    uint64_t (*bytes_written)(chdb_result *result);
    void (*set_signal_handlers)(int enabled);
} chdb;

static char *path_arg;
static chdb_connection *kept;
char ch_version[64], ch_timezone[64];

static int load(const char *library) {
    void *lib = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!lib) return fprintf(stderr, "chserver: %s\n", dlerror()), -1;
    const struct {
        void *slot;
        const char *name;
    } symbols[] = {
        {&chdb.connect, "chdb_connect"},
        {&chdb.close, "chdb_close_conn"},
        {&chdb.query, "chdb_query_with_params_n"},
        {&chdb.destroy, "chdb_destroy_query_result"},
        {&chdb.buffer, "chdb_result_buffer"},
        {&chdb.length, "chdb_result_length"},
        {&chdb.error, "chdb_result_error"},
        {&chdb.rows_read, "chdb_result_rows_read"},
        {&chdb.bytes_read, "chdb_result_bytes_read"},
        {&chdb.rows_written, "chdb_result_rows_written"},
        {&chdb.bytes_written, "chdb_result_bytes_written"},
        {&chdb.set_signal_handlers, "chdb_set_signal_handlers_enabled"},
    };
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *found = dlsym(lib, symbols[i].name);
        if (!found) return fprintf(stderr, "chserver: %s\n", dlerror()), -1;
        memcpy(symbols[i].slot, &found, sizeof found);
    }
    return 0;
}

static chdb_connection *connect_engine(void) {
    char program[] = "clickhouse";
    char *argv[] = {program, path_arg, NULL};
    return chdb.connect(2, argv);
}

/* ---- errors --------------------------------------------------------------------------------- */

static void cut(struct ch_buf *text, size_t at, size_t len) {
    memmove(text->at + at, text->at + at + len, text->len - at - len);
    text->len -= len;
}

/* Cuts from `start` to the end of `end`, once, where both are there. */
static void cut_between(struct ch_buf *text, const char *start, const char *end) {
    char *from = memmem(text->at, text->len, start, strlen(start));
    if (!from) return;
    size_t left = text->len - (size_t)(from - text->at);
    char *to = memmem(from, left, end, strlen(end));
    if (to) cut(text, (size_t)(from - text->at), (size_t)(to - from) + strlen(end));
}

/* What the client half of libchdb caught comes wrapped a second time: "Code: 33. DB::Exception:
 * Code: 33. DB::Exception: … (NAME) (version …). (NAME)". */
static void unwrap(struct ch_buf *text, size_t prefix_len) {
    if (text->len < 2 * prefix_len) return;
    if (memcmp(text->at, text->at + prefix_len, prefix_len) != 0) return;
    cut(text, 0, prefix_len);
    size_t n = strlen(" (version ");
    for (size_t at = text->len; at-- > n;)
        if (memcmp(text->at + at - n, " (version ", n) == 0) {
            text->len = at - n;
            return;
        }
}

/* The words a server would use: the detour through a file is ours. */
static int take_error(const char *message, struct ch_error *err) {
    int prefix_len = 0;
    err->code = CH_SYSTEM;
    sscanf(message, "Code: %d. DB::Exception: %n", &err->code, &prefix_len);
    err->text.len = 0;
    ch_buf_text(&err->text, message);
    if (prefix_len > 0) unwrap(&err->text, (size_t)prefix_len);
    cut_between(&err->text, ": (in file/uri /proc/self/fd/", ")");
    cut_between(&err->text, ": While executing File: data for INSERT was parsed from", " file");
    return -1;
}

/* ---- running -------------------------------------------------------------------------------- */

struct param_arrays {
    const char **names, **values;
    size_t *name_lens, *value_lens;
};

static struct param_arrays arrays_of(const struct ch_pairs *params) {
    size_t n = params->count + 1;
    struct param_arrays out = {calloc(n, sizeof(char *)), calloc(n, sizeof(char *)),
                               calloc(n, sizeof(size_t)), calloc(n, sizeof(size_t))};
    if (!out.names || !out.values || !out.name_lens || !out.value_lens) abort();
    for (size_t i = 0; i < params->count; i++) {
        out.names[i] = params->at[i].name;
        out.name_lens[i] = params->at[i].name_len;
        out.values[i] = params->at[i].value;
        out.value_lens[i] = params->at[i].value_len;
    }
    return out;
}

static void free_arrays(struct param_arrays *arrays) {
    free(arrays->names);
    free(arrays->values);
    free(arrays->name_lens);
    free(arrays->value_lens);
}

static int take_result(chdb_result *got, struct ch_result *result, struct ch_error *err) {
    const char *message = got ? chdb.error(got) : "libchdb returned no result";
    if (message) return take_error(message, err);
    if (result) {
        ch_buf_add(&result->body, chdb.buffer(got), chdb.length(got));
        result->read_rows = chdb.rows_read(got);
        result->read_bytes = chdb.bytes_read(got);
        result->written_rows = chdb.rows_written(got);
        result->written_bytes = chdb.bytes_written(got);
    }
    return 0;
}

static int run_sql(chdb_connection *conn, const char *sql, size_t len, const char *format,
                   const struct ch_pairs *params, struct ch_result *result, struct ch_error *err) {
    struct param_arrays a = arrays_of(params);
    chdb_result *got = chdb.query(*conn, sql, len, format, strlen(format), a.names, a.name_lens,
                                  a.values, a.value_lens, params->count);
    free_arrays(&a);
    int failed = take_result(got, result, err);
    if (got) chdb.destroy(got);
    return failed;
}

static int run_text(chdb_connection *conn, struct ch_buf *sql, struct ch_error *err) {
    static const struct ch_pairs none;
    int failed = run_sql(conn, sql->at, sql->len, "TabSeparated", &none, NULL, err);
    ch_buf_free(sql);
    return failed;
}

static void quote(struct ch_buf *out, char mark, const char *text, size_t len) {
    ch_buf_add(out, &mark, 1);
    for (size_t i = 0; i < len; i++) {
        if (text[i] == mark || text[i] == '\\') ch_buf_text(out, "\\");
        ch_buf_add(out, text + i, 1);
    }
    ch_buf_add(out, &mark, 1);
}

static int set(chdb_connection *conn, const struct ch_pair *setting, struct ch_error *err) {
    struct ch_buf sql = {0};
    ch_buf_text(&sql, "SET ");
    quote(&sql, '`', setting->name, setting->name_len);
    ch_buf_text(&sql, " = ");
    quote(&sql, '\'', setting->value, setting->value_len);
    return run_text(conn, &sql, err);
}

static int use(chdb_connection *conn, const char *database, struct ch_error *err) {
    struct ch_buf sql = {0};
    ch_buf_text(&sql, "USE ");
    quote(&sql, '`', database, strlen(database));
    return run_text(conn, &sql, err);
}

/* Over HTTP a row format's blocks are max_insert_block_size rows; from a file they are
 * max_block_size rows. */
static int set_block_size(chdb_connection *conn, const struct ch_pairs *settings,
                          struct ch_error *err) {
    struct ch_pair size = {"max_block_size", strlen("max_block_size"), "1048449", 7};
    for (size_t i = 0; i < settings->count; i++) {
        const struct ch_pair *given = &settings->at[i];
        if (given->name_len != strlen("max_insert_block_size")) continue;
        if (memcmp(given->name, "max_insert_block_size", given->name_len) != 0) continue;
        size.value = given->value;
        size.value_len = given->value_len;
    }
    return set(conn, &size, err);
}

static int prepare(chdb_connection *conn, const struct ch_query *query, struct ch_error *err) {
    static const struct ch_pair readonly = {"readonly", 8, "2", 1};
    if (query->database && use(conn, query->database, err)) return -1;
    for (size_t i = 0; i < query->settings.count; i++)
        if (set(conn, &query->settings.at[i], err)) return -1;
    if (query->data && set_block_size(conn, &query->settings, err)) return -1;
    return query->readonly ? set(conn, &readonly, err) : 0;
}

/* A memory file of these bytes; the caller closes it. */
static int memory_file(const char *bytes, size_t len, struct ch_error *err) {
    int fd = memfd_create("chserver-insert", MFD_CLOEXEC);
    for (size_t at = 0; fd >= 0 && at < len;) {
        ssize_t wrote = write(fd, bytes + at, len - at);
        if (wrote > 0) at += (size_t)wrote;
        if (wrote >= 0 || errno == EINTR) continue;
        close(fd);
        fd = -1;
    }
    if (fd < 0) ch_fail(err, CH_SYSTEM, "STD_EXCEPTION", "memory file: %s", strerror(errno));
    return fd;
}

static int run_insert(chdb_connection *conn, const struct ch_query *query, struct ch_result *result,
                      struct ch_error *err) {
    int fd = memory_file(query->data, query->data_len, err);
    if (fd < 0) return -1;
    const struct ch_sql *scanned = query->scanned;
    struct ch_buf sql = {0};
    ch_buf_add(&sql, query->sql, scanned->infile_at);
    ch_buf_print(&sql, " FROM INFILE '/proc/self/fd/%d' COMPRESSION 'none' ", fd);
    ch_buf_add(&sql, query->sql + scanned->infile_at, scanned->format_at - scanned->infile_at);
    ch_buf_print(&sql, " FORMAT %.*s", (int)scanned->format_len, scanned->format);
    int failed = run_sql(conn, sql.at, sql.len, query->format, &query->params, result, err);
    ch_buf_free(&sql);
    close(fd);
    return failed;
}

int ch_engine_run(const struct ch_query *query, struct ch_result *result, struct ch_error *err) {
    chdb_connection *conn = connect_engine();
    if (!conn) return ch_fail(err, CH_SYSTEM, "STD_EXCEPTION", "libchdb gave no connection");
    int failed = prepare(conn, query, err);
    if (!failed && query->data)
        failed = run_insert(conn, query, result, err);
    else if (!failed)
        failed =
            run_sql(conn, query->sql, query->sql_len, query->format, &query->params, result, err);
    chdb.close(conn);
    return failed;
}

static int ask(const char *sql, char *out, size_t capacity) {
    static const struct ch_pairs none;
    struct ch_result result = {0};
    struct ch_error err = {0};
    int failed = run_sql(kept, sql, strlen(sql), "TabSeparatedRaw", &none, &result, &err);
    const struct ch_buf *text = failed ? &err.text : &result.body;
    size_t len = text->len > 0 && !failed ? text->len - 1 : text->len;
    snprintf(out, capacity, "%.*s", (int)len, text->at);
    if (failed) fprintf(stderr, "chserver: %.*s\n", (int)len, text->at);
    ch_buf_free(&result.body);
    ch_buf_free(&err.text);
    return failed;
}

int ch_engine_open(const char *library, const char *folder) {
    if (load(library)) return -1;
    struct ch_buf arg = {0};
    ch_buf_print(&arg, "--path=%s", folder);
    path_arg = arg.at;
    chdb.set_signal_handlers(0);
    kept = connect_engine();
    if (!kept) return fprintf(stderr, "chserver: libchdb cannot open %s\n", folder), -1;
    return ask("SELECT version()", ch_version, sizeof ch_version) ||
                   ask("SELECT timezone()", ch_timezone, sizeof ch_timezone)
               ? -1
               : 0;
}

void ch_engine_close(void) {
    if (kept) chdb.close(kept);
    kept = NULL;
    free(path_arg);
}
