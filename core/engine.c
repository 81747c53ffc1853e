#include "engine.h"

#include "error.h"
#include "exception.h"
#include "infile.h"
#include "process.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* libchdb's interface, as far as it is used; it comes without a header. */
typedef struct chdb_result chdb_result;
typedef struct chdb_connection_ *chdb_connection;

static struct library {
    void *handle;
    chdb_connection *(*connect)(int argc, char **argv);
    void (*close_conn)(chdb_connection *conn);
    chdb_result *(*query)(chdb_connection conn, const char *sql, size_t sql_len, const char *format,
                          size_t format_len);
    chdb_result *(*query_with_params)(chdb_connection conn, const char *sql, size_t sql_len,
                                      const char *format, size_t format_len,
                                      const char *const *names, const size_t *name_lens,
                                      const char *const *values, const size_t *value_lens,
                                      size_t count);
    char *(*buffer)(chdb_result *result);
    size_t (*length)(chdb_result *result);
    const char *(*error)(chdb_result *result); /* NULL: none */
    uint64_t (*rows_read)(chdb_result *result);
    uint64_t (*bytes_read)(chdb_result *result);
    uint64_t (*rows_written)(chdb_result *result);
    uint64_t (*bytes_written)(chdb_result *result);
    void (*destroy)(chdb_result *result);
} lib;

/* The one engine. `lock` is held while a statement runs. */
static struct engine {
    pthread_mutex_t lock;
    unsigned users;
    uint32_t generation; /* of the process that loaded the library; 0: none has */
    char *folder;        /* absolute where it is on disk */
    char *database;      /* in use; NULL: "default" */
    chdb_connection *conn;
    int rows_fd; /* a file in memory, used again for each insert */
} engine = {.lock = PTHREAD_MUTEX_INITIALIZER, .rows_fd = -1};

enum { EXIT_WAIT_S = 5 };

/* ---- the library -------------------------------------------------------------------------- */

static bool find_all(void *handle) {
    struct {
        void *into;
        const char *name;
    } wanted[] = {{&lib.connect, "chdb_connect"},
                  {&lib.close_conn, "chdb_close_conn"},
                  {&lib.query, "chdb_query_n"},
                  {&lib.query_with_params, "chdb_query_with_params_n"},
                  {&lib.buffer, "chdb_result_buffer"},
                  {&lib.length, "chdb_result_length"},
                  {&lib.error, "chdb_result_error"},
                  {&lib.rows_read, "chdb_result_rows_read"},
                  {&lib.bytes_read, "chdb_result_bytes_read"},
                  {&lib.rows_written, "chdb_result_rows_written"},
                  {&lib.bytes_written, "chdb_result_bytes_written"},
                  {&lib.destroy, "chdb_destroy_query_result"}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        void *symbol = dlsym(handle, wanted[i].name);
        if (!symbol) return false;
        memcpy(wanted[i].into, &symbol, sizeof symbol);
    }
    return true;
}

/* Signals are the program's own business. */
static void leave_signals_alone(void *handle) {
    void (*enable)(bool);
    void *symbol = dlsym(handle, "chdb_set_signal_handlers_enabled");
    memcpy(&enable, &symbol, sizeof symbol);
    if (symbol) enable(false);
}

static int load(const char *path, chute_error *err) {
    if (dlsym(RTLD_DEFAULT, "ngx_cycle"))
        return chute_fail(err, CHUTE_E_ARG,
                          "chdb: ClickHouse cannot live inside nginx: send to a server");
    if (engine.generation == chute_process_generation()) return 0;
    if (engine.generation)
        return chute_fail(err, CHUTE_E_ARG, "chdb: libchdb was loaded before fork()");
    if (!path || !*path) path = getenv("CHUTE_LIBCHDB");
    if (!path || !*path) path = "libchdb.so";
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return chute_fail(err, CHUTE_E_ARG,
                          "chdb: libchdb.so not found: set CHUTE_LIBCHDB, or the option libchdb, "
                          "to its path (%s)",
                          dlerror());
    if (!find_all(handle))
        return chute_fail(err, CHUTE_E_ARG, "chdb: %s is too old or no libchdb", path);
    leave_signals_alone(handle);
    lib.handle = handle;
    engine.generation = chute_process_generation();
    return 0;
}

/* ---- opening and closing ------------------------------------------------------------------ */

static void disconnect(void) {
    if (engine.conn) lib.close_conn(engine.conn);
    if (engine.rows_fd >= 0) close(engine.rows_fd);
    free(engine.folder);
    free(engine.database);
    engine.conn = NULL;
    engine.folder = engine.database = NULL;
    engine.rows_fd = -1;
}

/* At exit(): an engine left open makes libchdb crash now and then. */
static void disconnect_at_exit(void) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += EXIT_WAIT_S;
    if (engine.generation != chute_process_generation()) return;
    if (pthread_mutex_timedlock(&engine.lock, &until)) return;
    disconnect();
    pthread_mutex_unlock(&engine.lock);
}

static char *absolute(const char *folder) {
    char *path = *folder ? realpath(folder, NULL) : NULL;
    return path ? path : strdup(folder);
}

static chdb_connection *connect_to(const char *folder) {
    char name[] = "chdb";
    char argument[PATH_MAX + 16];
    char *argv[] = {name, argument};
    size_t len = strlen(folder);
    if (len >= PATH_MAX) return NULL;
    memcpy(argument, "--path=", 7);
    memcpy(argument + 7, folder, len + 1);
    chdb_connection *conn = lib.connect(len ? 2 : 1, argv);
    return conn && *conn ? conn : NULL;
}

static int connect_engine(const char *folder, chute_error *err) {
    engine.rows_fd = memfd_create("chute-rows", MFD_CLOEXEC);
    if (engine.rows_fd < 0)
        return chute_fail(err, CHUTE_E_SYSTEM, "chdb: no memory for rows: %s", strerror(errno));
    engine.conn = connect_to(folder);
    if (!engine.conn)
        return chute_fail(err, CHUTE_E_SYSTEM,
                          "chdb:%s cannot be opened (does another process have it?)", folder);
    chute_process_at_exit(CHUTE_EXIT_CLOSE, disconnect_at_exit);
    engine.folder = absolute(folder);
    return engine.folder ? 0 : chute_fail(err, CHUTE_E_NOMEM, "chdb: no memory");
}

static int join_engine(const char *folder, chute_error *err) {
    char *path = absolute(folder);
    bool same = path && strcmp(path, engine.folder) == 0;
    free(path);
    if (same) return 0;
    return chute_fail(err, CHUTE_E_ARG,
                      "chdb:%s: this process has chdb:%s open, and can have no other", folder,
                      engine.folder);
}

int chute_engine_open(const char *library, const char *folder, chute_error *err) {
    if (engine.generation && engine.generation != chute_process_generation())
        return load(library, err);
    pthread_mutex_lock(&engine.lock);
    int failed = load(library, err);
    if (!failed && engine.conn)
        failed = join_engine(folder, err);
    else if (!failed && connect_engine(folder, err)) {
        disconnect();
        failed = -1;
    }
    if (!failed) engine.users++;
    pthread_mutex_unlock(&engine.lock);
    return failed;
}

void chute_engine_close(void) {
    pthread_mutex_lock(&engine.lock);
    if (--engine.users == 0) disconnect();
    pthread_mutex_unlock(&engine.lock);
}

/* ---- statements --------------------------------------------------------------------------- */

enum { PARAMS_MAX = 1024 };

static chdb_result *query_with_params(const chute_text *sql,
                                      const struct chute_engine_statement *s) {
    size_t count = s->params_count;
    const char **texts = calloc(count, 2 * sizeof *texts);
    size_t *lens = calloc(count, 2 * sizeof *lens);
    chdb_result *result = NULL;
    for (size_t i = 0; texts && lens && i < count; i++) {
        texts[i] = s->params[i].name;
        texts[count + i] = s->params[i].value;
        lens[i] = strlen(s->params[i].name);
        lens[count + i] = strlen(s->params[i].value);
    }
    if (texts && lens)
        result =
            lib.query_with_params(*engine.conn, sql->at, sql->len, s->format, strlen(s->format),
                                  texts, lens, texts + count, lens + count, count);
    free(texts);
    free(lens);
    return result;
}

static void take_answer(chdb_result *result, chute_text *body, struct chute_engine_counts *counts) {
    const char *bytes = lib.buffer(result);
    if (bytes && body) chute_text_add(body, bytes, lib.length(result));
    if (counts)
        *counts = (struct chute_engine_counts){lib.rows_read(result), lib.bytes_read(result),
                                               lib.rows_written(result), lib.bytes_written(result)};
}

/* Runs ready text; `s` gives the rest. */
static int run(const chute_text *sql, const struct chute_engine_statement *s, chute_text *body,
               struct chute_engine_counts *counts, chute_error *err) {
    if (sql->failed) return chute_fail(err, CHUTE_E_NOMEM, "%s: no memory", s->place);
    chdb_result *result =
        s->params_count ? query_with_params(sql, s)
                        : lib.query(*engine.conn, sql->at, sql->len, s->format, strlen(s->format));
    if (!result) return chute_fail(err, CHUTE_E_SYSTEM, "%s: no answer", s->place);
    const char *error = lib.error(result);
    int failed = error && *error ? chute_exception_read(error, strlen(error), 0, s->place, err) : 0;
    if (!failed) take_answer(result, body, counts);
    lib.destroy(result);
    if (!failed && body && body->failed)
        return chute_fail(err, CHUTE_E_NETWORK, "%s: the answer is longer than %zu bytes", s->place,
                          body->limit);
    return failed;
}

/* Runs a statement of ours, without parameters or an answer. */
static int run_own(const chute_text *sql, const struct chute_engine_statement *s,
                   chute_error *err) {
    struct chute_engine_statement own = {.place = s->place, .format = "Null"};
    return run(sql, &own, NULL, NULL, err);
}

static int use_database(const struct chute_engine_statement *s, chute_error *err) {
    const char *wanted = s->database ? s->database : "default";
    if (strcmp(wanted, engine.database ? engine.database : "default") == 0) return 0;
    chute_text sql = {0};
    chute_text_print(&sql, "USE ");
    chute_text_quote(&sql, '`', wanted);
    int failed = run_own(&sql, s, err);
    chute_text_clear(&sql);
    if (failed) return failed;
    free(engine.database);
    engine.database = strdup(wanted);
    return engine.database ? 0 : chute_fail(err, CHUTE_E_NOMEM, "%s: no memory", s->place);
}

/* Settings last for the session, so each is put back afterwards. */
static int set(const struct chute_engine_statement *s, bool back, chute_error *err) {
    if (s->settings_count == 0) return 0;
    chute_text sql = {0};
    chute_text_print(&sql, "SET ");
    for (size_t i = 0; i < s->settings_count; i++) {
        chute_text_print(&sql, i ? ", " : "");
        chute_text_quote(&sql, '`', s->settings[i].name);
        chute_text_print(&sql, " = ");
        if (back)
            chute_text_print(&sql, "DEFAULT");
        else
            chute_text_quote(&sql, '\'', s->settings[i].value);
    }
    int failed = run_own(&sql, s, err);
    chute_text_clear(&sql);
    return failed;
}

/* ---- rows --------------------------------------------------------------------------------- */

static int write_rows(const char *rows, size_t len, const char *place, chute_error *err) {
    size_t at = 0;
    if (ftruncate(engine.rows_fd, (off_t)len) == 0) {
        while (at < len) {
            ssize_t n = pwrite(engine.rows_fd, rows + at, len - at, (off_t)at);
            if (n < 0 && errno == EINTR) continue;
            if (n <= 0) break;
            at += (size_t)n;
        }
        if (at == len) return 0;
    }
    return chute_fail(err, CHUTE_E_SYSTEM, "%s: no memory for %zu bytes of rows: %s", place, len,
                      strerror(errno));
}

/* Rows go by a file: inline, the engine takes a blank line among them for their end. */
static int run_rows(const struct chute_engine_statement *s, const struct chute_infile *found,
                    const char *rows, size_t len, chute_text *body,
                    struct chute_engine_counts *counts, chute_error *err) {
    int failed = write_rows(rows, len, s->place, err);
    if (failed) return failed;
    chute_text sql = {0};
    chute_infile_write(&sql, s->sql, found, engine.rows_fd);
    failed = run(&sql, s, body, counts, err);
    chute_text_clear(&sql);
    return failed;
}

static int run_statement(const struct chute_engine_statement *s, chute_text *body,
                         struct chute_engine_counts *counts, chute_error *err) {
    struct chute_infile found;
    bool takes_rows = chute_infile_find(s->sql, s->sql_len, &found);
    if (s->rows && !takes_rows)
        return chute_fail(err, CHUTE_E_ARG, "%s: rows need a statement INSERT … FORMAT", s->place);
    if (s->rows) return run_rows(s, &found, s->rows, s->rows_len, body, counts, err);
    if (takes_rows && found.data_at < s->sql_len)
        return run_rows(s, &found, s->sql + found.data_at, s->sql_len - found.data_at, body, counts,
                        err);
    chute_text sql = {0};
    chute_text_add(&sql, s->sql, s->sql_len);
    int failed = run(&sql, s, body, counts, err);
    chute_text_clear(&sql);
    return failed;
}

int chute_engine_run(const struct chute_engine_statement *s, chute_text *body,
                     struct chute_engine_counts *counts, chute_error *err) {
    chute_error unwanted;
    if (s->params_count > PARAMS_MAX)
        return chute_fail(err, CHUTE_E_ARG, "more than %d parameters", PARAMS_MAX);
    pthread_mutex_lock(&engine.lock);
    int failed = engine.conn ? use_database(s, err)
                             : chute_fail(err, CHUTE_E_CLOSED, "%s is closed", s->place);
    if (!failed) failed = set(s, false, err);
    if (!failed) failed = run_statement(s, body, counts, err);
    if (engine.conn) set(s, true, &unwanted);
    pthread_mutex_unlock(&engine.lock);
    return failed;
}
