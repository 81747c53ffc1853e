/* Pools against a server of our own that does at each request what the test says. */
#include "batch.h"
#include "check.h"
#include "pool.h"
#include "scripted_server.h"

#include <sys/wait.h>

enum { WAIT_MS = 20000 };

/* ---- what the tests use ------------------------------------------------------------------- */

static chute_pool *open_pool(uint32_t size) {
    char url[64];
    chute_error err;
    snprintf(url, sizeof url, "http://127.0.0.1:%u/", server.port);
    chute_pool_config config = {.url = url, .size = size, .user = "bob", .password = "secret"};
    chute_pool *pool = chute_pool_open(&config, &err);
    CHECK(pool != NULL);
    return pool;
}

static chute_request *send_insert(chute_pool *pool) {
    chute_query query = {.sql = "INSERT INTO t FORMAT RowBinary",
                         .sql_len = strlen("INSERT INTO t FORMAT RowBinary"),
                         .body = "rows",
                         .body_len = 4,
                         .compression = CHUTE_COMPRESS_ZSTD};
    return chute_pool_query(pool, &query, NULL);
}

static int outcome(chute_request *request, chute_error *err) {
    chute_result result;
    memset(err, 0, sizeof *err);
    CHECK_INT(1, chute_request_wait(request, WAIT_MS));
    int kind = chute_request_result(request, &result, err);
    chute_request_free(request);
    return kind;
}

/* Batches count down here. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned left, failed;
    chute_error error;
    chute_pool *closes; /* the pool that the last batch closes */
} done = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void batch_done(chute_batch *batch) {
    pthread_mutex_lock(&done.lock);
    chute_pool *pool = done.left == 1 ? done.closes : NULL;
    if (batch->error.kind) {
        done.failed++;
        done.error = batch->error;
    }
    pthread_mutex_unlock(&done.lock);
    chute_batch_free(batch);
    chute_pool_close(pool);
    pthread_mutex_lock(&done.lock);
    done.left--;
    pthread_cond_broadcast(&done.changed);
    pthread_mutex_unlock(&done.lock);
}

static void wait_for_batches(void) {
    pthread_mutex_lock(&done.lock);
    while (done.left) pthread_cond_wait(&done.changed, &done.lock);
    pthread_mutex_unlock(&done.lock);
}

static chute_schema *make_schema(void) {
    chute_schema *schema = chute_schema_new(CHUTE_FORMAT_ROW_BINARY, "UTC", 3, NULL);
    chute_schema_add(schema, "a", 1, "UInt8", 5, 0, NULL);
    CHECK_INT(0, chute_schema_compile(schema, NULL));
    return schema;
}

static void submit(chute_pool *pool, chute_schema *schema, unsigned count, int compression) {
    chute_stream_config config = {.table = "db.t", .compression = compression};
    chute_insert *insert = chute_insert_new(schema, &config, NULL);
    chute_cells *cells = chute_cells_new(1);
    cells->at[0] = (chute_cell){.u64 = 7, .kind = CHUTE_CELL_UINT64};
    done.left = count;
    done.failed = 0;
    for (unsigned i = 0; i < count; i++) {
        chute_buffer *buffer = chute_buffer_new(schema, 1000, NULL);
        CHECK_INT(0, chute_buffer_add(buffer, cells, NULL));
        chute_batch *batch = chute_batch_new(buffer, insert, NULL);
        batch->done = batch_done;
        chute_batch_seal(batch);
        chute_pool_submit(pool, batch);
    }
    chute_cells_free(cells);
    chute_insert_free(insert);
}

/* ---- tests -------------------------------------------------------------------------------- */

static void inserts(void) {
    chute_error err;
    script(FINE, -1, -1);
    chute_pool *pool = open_pool(2);
    CHECK_INT(0, outcome(send_insert(pool), &err));
    CHECK(saw("POST /?query_id="));
    CHECK(saw("&async_insert=0&insert_deduplication_token="));
    CHECK(saw("&query=INSERT%20INTO%20t%20FORMAT%20RowBinary HTTP"));
    CHECK(saw("\r\nContent-Encoding: zstd\r\n"));
    CHECK(saw("\r\nX-ClickHouse-User: bob\r\nX-ClickHouse-Key: secret\r\n"));
    CHECK(!saw("Expect:"));
    CHECK_INT(0, outcome(send_insert(pool), &err));
    CHECK_INT(1, server.asked);
    CHECK_INT(2, server.posts);
    CHECK_INT(0, outcome(chute_pool_ping(pool, NULL), &err));
    chute_pool_close(pool);
}

static void refusals(void) {
    chute_error err;
    script(REFUSE, FINE, -1);
    chute_pool *pool = open_pool(1);
    CHECK_INT(CHUTE_E_SERVER, outcome(send_insert(pool), &err));
    CHECK_INT(60, err.code);
    CHECK_INT(404, err.status);
    CHECK_INT(0, err.flags);
    CHECK(strcmp(err.name, "UNKNOWN_TABLE") == 0);
    CHECK_INT(0, outcome(send_insert(pool), &err));
    chute_pool_close(pool);
}

/* A kept connection that breaks before the answer: libcurl would send the rows once more. */
static void no_silent_resend(void) {
    chute_error err;
    script(FINE, HANG_UP, FINE);
    chute_pool *pool = open_pool(1);
    CHECK_INT(0, outcome(send_insert(pool), &err));
    CHECK_INT(CHUTE_E_NETWORK, outcome(send_insert(pool), &err));
    CHECK_INT(CHUTE_RETRYABLE | CHUTE_UNCERTAIN, err.flags);
    CHECK(strstr(err.message, "127.0.0.1:") == err.message);
    CHECK(strstr(err.message, "secret") == NULL);
    CHECK_INT(2, server.posts);
    CHECK_INT(0, outcome(send_insert(pool), &err));

    chute_query query = {.sql = "INSERT INTO t SELECT 1", .sql_len = 22}; /* no rows: SQL is all */
    script(FINE, HANG_UP, FINE);
    CHECK_INT(0, outcome(chute_pool_query(pool, &query, NULL), &err));
    CHECK_INT(CHUTE_E_NETWORK, outcome(chute_pool_query(pool, &query, NULL), &err));
    CHECK_INT(2, server.posts);

    query.body = ""; /* the statement in the URL, and nothing else to send */
    script(FINE, HANG_UP, FINE);
    CHECK_INT(0, outcome(chute_pool_query(pool, &query, NULL), &err));
    CHECK_INT(CHUTE_E_NETWORK, outcome(chute_pool_query(pool, &query, NULL), &err));
    CHECK_INT(2, server.posts);
    chute_pool_close(pool);
}

static void dead_server(void) {
    chute_error err;
    chute_pool_config config = {.url = "http://bob:secret@127.0.0.1:1/"};
    chute_pool *pool = chute_pool_open(&config, &err);
    CHECK_INT(CHUTE_E_NETWORK, outcome(send_insert(pool), &err));
    CHECK_INT(CHUTE_RETRYABLE, err.flags); /* certain: nothing left */
    CHECK(strcmp(err.host, "127.0.0.1:1") == 0);
    CHECK(strstr(err.message, "secret") == NULL);
    chute_pool_close(pool);
}

static void first_contact_fails(void) {
    chute_error err;
    script(FINE, -1, -1);
    server.hosts_known = false;
    chute_pool *pool = open_pool(1);
    CHECK_INT(CHUTE_E_SERVER, outcome(send_insert(pool), &err));
    CHECK_INT(202, err.code);
    CHECK_INT(CHUTE_RETRYABLE, err.flags);
    CHECK_INT(0, server.posts);
    server.hosts_known = true; /* the next one asks again */
    CHECK_INT(0, outcome(send_insert(pool), &err));
    CHECK_INT(1, server.posts);
    chute_pool_close(pool);
}

static void timeouts(void) {
    chute_error err;
    script(STALL, FINE, -1);
    chute_pool *pool = open_pool(1);
    chute_query query = {.sql = "SELECT 1", .sql_len = 8, .timeout_ms = 50};
    CHECK_INT(CHUTE_E_TIMEOUT, outcome(chute_pool_query(pool, &query, NULL), &err));
    CHECK_INT(CHUTE_RETRYABLE | CHUTE_UNCERTAIN, err.flags);
    CHECK_INT(0, outcome(send_insert(pool), &err));
    chute_pool_close(pool);
}

static void cancelling(void) {
    chute_error err;
    script(STALL, FINE, -1);
    chute_pool *pool = open_pool(1);
    chute_request *request = send_insert(pool);
    while (server.posts == 0) CHECK_INT(0, chute_request_wait(request, 1));
    chute_request *behind = send_insert(pool), *unwanted = send_insert(pool);
    chute_request_free(unwanted);
    CHECK_INT(0, chute_request_wait(behind, 0)); /* one connection, and it is taken */
    chute_request_free(request);
    CHECK_INT(0, outcome(behind, &err));
    chute_pool_close(pool);
}

static void closing(void) {
    chute_error err;
    script(STALL, STALL, -1);
    chute_pool *pool = open_pool(1);
    chute_request *sent = send_insert(pool), *waiting = send_insert(pool);
    while (server.posts == 0) chute_request_wait(sent, 1);
    chute_pool_close(pool);
    CHECK_INT(CHUTE_E_CLOSED, outcome(sent, &err));
    CHECK_INT(CHUTE_RETRYABLE | CHUTE_UNCERTAIN, err.flags);
    CHECK_INT(CHUTE_E_CLOSED, outcome(waiting, &err));
    CHECK_INT(CHUTE_RETRYABLE, err.flags);
}

static void batches(void) {
    chute_schema *schema = make_schema();
    script(FINE, -1, -1);
    chute_pool *pool = open_pool(3);
    submit(pool, schema, 50, CHUTE_COMPRESS_LZ4);
    wait_for_batches();
    CHECK_INT(0, done.failed);
    CHECK_INT(50, server.posts);
    submit(pool, schema, 1, CHUTE_COMPRESS_NONE);
    wait_for_batches();
    CHECK(saw("INSERT%20INTO%20%60db%60.%60t%60%20%28%60a%60%29%20FORMAT"));
    CHECK(saw("\r\n\r\n\x07"));
    script(REFUSE, FINE, FINE);
    submit(pool, schema, 3, CHUTE_COMPRESS_BLOCK_LZ4);
    wait_for_batches();
    CHECK_INT(1, done.failed);
    CHECK_INT(60, done.error.code);
    CHECK(saw("&decompress=1&"));

    script(STALL, STALL, STALL); /* all are told when it closes */
    submit(pool, schema, 8, CHUTE_COMPRESS_NONE);
    while (server.posts == 0) usleep(1000);
    chute_pool_close(pool);
    CHECK_INT(8, done.failed);
    CHECK_INT(CHUTE_E_CLOSED, done.error.kind);
    chute_schema_free(schema);
}

/* The last batch's owner gives the last handle back on a thread of the pool itself. */
static void closed_from_within(void) {
    chute_schema *schema = make_schema();
    script(FINE, -1, -1);
    done.closes = open_pool(1);
    submit(done.closes, schema, 5, CHUTE_COMPRESS_LZ4);
    wait_for_batches();
    done.closes = NULL;
    CHECK_INT(0, done.failed);
    chute_schema_free(schema);
}

static void *query_often(void *arg) {
    chute_error err;
    intptr_t failed = 0;
    for (int i = 0; i < 50; i++) {
        chute_request *request = send_insert(arg);
        if (i % 5 == 4)
            chute_request_free(request); /* in any state */
        else if (!chute_request_wait(request, WAIT_MS))
            failed++;
        else if (chute_request_result(request, &(chute_result){0}, &err))
            failed++;
        if (i % 5 != 4) chute_request_free(request);
    }
    return (void *)failed;
}

static void many_callers(void) {
    pthread_t threads[4];
    chute_schema *schema = make_schema();
    script(FINE, -1, -1);
    chute_pool *pool = open_pool(3);
    submit(pool, schema, 100, CHUTE_COMPRESS_ZSTD);
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, query_often, pool);
    for (int i = 0; i < 4; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        CHECK_INT(0, (intptr_t)failed);
    }
    wait_for_batches();
    CHECK_INT(0, done.failed);
    chute_pool_close(pool);
    chute_schema_free(schema);
}

/* A forked child refuses what its parent opened, without waiting for threads it has not. */
static void forked(void) {
    chute_schema *schema = make_schema();
    script(STALL, -1, -1);
    chute_pool *pool = open_pool(1);
    chute_request *request = send_insert(pool);
    pid_t child = fork();
    if (child == 0) {
        chute_error err;
        chute_result result;
        unsigned wrong = 0;
        wrong += chute_request_wait(request, WAIT_MS) != 1;
        wrong += chute_request_result(request, &result, &err) != CHUTE_E_CLOSED;
        chute_request_free(request);
        wrong += chute_pool_ping(pool, &err) != NULL || err.kind != CHUTE_E_CLOSED;
        wrong += send_insert(pool) != NULL;
        submit(pool, schema, 1, CHUTE_COMPRESS_NONE);
        wrong += done.left != 0 || done.failed != 1 || done.error.kind != CHUTE_E_CLOSED;
        chute_pool_close(pool);
        _exit((int)wrong);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK_INT(0, status);
    chute_request_free(request);
    chute_pool_close(pool);
    chute_schema_free(schema);
}

static void bad_arguments(void) {
    static const chute_pool_config bad[] = {{.url = NULL},
                                            {.url = "nonsense"},
                                            {.url = "http://h/", .user = "a\r\nb"},
                                            {.url = "http://h/", .size = 100000},
                                            {.url = "http://h/", .compressors = 100000}};
    chute_error err;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK(chute_pool_open(&bad[i], &err) == NULL);
        CHECK_INT(CHUTE_E_ARG, err.kind);
    }
    chute_pool *pool = open_pool(1);
    chute_pair header = {"X: y", "z"}, split = {"X", "a\r\nb"}, nameless = {"", "1"};
    chute_query query = {.sql = "SELECT 1", .sql_len = 8, .headers = &header, .headers_count = 1};
    CHECK(chute_pool_query(pool, &query, &err) == NULL);
    query.headers = &split;
    CHECK(chute_pool_query(pool, &query, &err) == NULL);
    query = (chute_query){.sql = "", .settings = &nameless, .settings_count = 1};
    CHECK(chute_pool_query(pool, &query, &err) == NULL);
    query = (chute_query){.sql = "", .compression = 77};
    CHECK(chute_pool_query(pool, &query, &err) == NULL);
    chute_pool_close(pool);
    chute_pool_close(NULL);
    chute_request_free(NULL);
}

int main(void) {
    start_server();
    inserts();
    refusals();
    no_silent_resend();
    dead_server();
    first_contact_fails();
    timeouts();
    cancelling();
    closing();
    batches();
    closed_from_within();
    many_callers();
    forked();
    bad_arguments();
    return check_report("core/pool");
}
