/* http: a request from its first byte to its answer. */
#include "chserver.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

static struct ch_options options;

struct request {
    struct MHD_Connection *connection;
    const char *path;
    bool post;
    bool counted; /* control knows of it */
    struct ch_buf body;
    size_t wire_bytes; /* of the body as it came */
    char query_id[256];
    struct ch_query query;
    struct ch_sql scanned;
    struct ch_buf sql; /* the URL's query, a newline and the body, where both are wanted */
    struct ch_error error;
    struct ch_result result;
};

static const char *url_value(const struct request *r, const char *name) {
    return MHD_lookup_connection_value(r->connection, MHD_GET_ARGUMENT_KIND, name);
}

static const char *header(const struct request *r, const char *name) {
    return MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, name);
}

static bool flag(const struct request *r, const char *name) {
    const char *value = url_value(r, name);
    return value && (strcmp(value, "1") == 0 || strcasecmp(value, "true") == 0);
}

/* ---- answers -------------------------------------------------------------------------------- */

static void add_header(struct MHD_Response *response, const char *name, const char *value) {
    if (MHD_add_response_header(response, name, value) != MHD_YES) abort();
}

static struct MHD_Response *response_of(const struct ch_buf *body) {
    static char empty[1];
    struct MHD_Response *response = MHD_create_response_from_buffer(
        body->len, body->at ? body->at : empty, MHD_RESPMEM_MUST_COPY);
    if (!response) abort();
    char keep_alive[32];
    snprintf(keep_alive, sizeof keep_alive, "timeout=%u", options.keep_alive_s);
    add_header(response, "Keep-Alive", keep_alive);
    return response;
}

static enum MHD_Result send_off(const struct request *r, unsigned status,
                                struct MHD_Response *response) {
    enum MHD_Result queued = MHD_queue_response(r->connection, status, response);
    MHD_destroy_response(response);
    return queued;
}

static enum MHD_Result answer_text(const struct request *r, unsigned status, const char *text) {
    struct ch_buf body = {0};
    ch_buf_text(&body, text);
    struct MHD_Response *response = response_of(&body);
    ch_buf_free(&body);
    add_header(response, "Content-Type", "text/html; charset=UTF-8");
    return send_off(r, status, response);
}

static void add_summary(struct MHD_Response *response, const struct ch_result *result) {
    struct ch_buf summary = {0};
    ch_buf_print(&summary,
                 "{\"read_rows\":\"%lu\",\"read_bytes\":\"%lu\",\"written_rows\":\"%lu\","
                 "\"written_bytes\":\"%lu\",\"total_rows_to_read\":\"0\"}",
                 result->read_rows, result->read_bytes, result->written_rows,
                 result->written_bytes);
    ch_buf_add(&summary, "", 1);
    add_header(response, "X-ClickHouse-Summary", summary.at);
    ch_buf_free(&summary);
}

static void add_labels(const struct request *r, struct MHD_Response *response) {
    const char *format = r->scanned.has_data || !r->scanned.format ? NULL : r->scanned.format;
    size_t len = format ? r->scanned.format_len : strlen(r->query.format);
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)len, format ? format : r->query.format);
    add_header(response, "X-ClickHouse-Format", name);
    add_header(response, "Content-Type", ch_content_type(name, strlen(name)));
    add_summary(response, &r->result);
}

static void add_exception(const struct request *r, struct MHD_Response *response) {
    char code[16];
    snprintf(code, sizeof code, "%d", r->error.code);
    add_header(response, "X-ClickHouse-Exception-Code", code);
    add_header(response, "Content-Type", "text/plain; charset=UTF-8");
    if (r->error.code == CH_REQUIRED_PASSWORD)
        add_header(response, "WWW-Authenticate", "Basic realm=\"ClickHouse server HTTP API\"");
}

/* The content encoding the client may be answered in, or NULL. */
static const char *wanted_encoding(const struct request *r) {
    const char *accepted = header(r, "Accept-Encoding");
    return accepted && flag(r, "enable_http_compression") ? ch_pick_encoding(accepted) : NULL;
}

static void pack(const struct request *r, struct ch_buf *body, const char *encoding) {
    if (flag(r, "compress")) {
        struct ch_buf framed = {0};
        ch_body_frame(&framed, body->at, body->len);
        ch_buf_free(body);
        *body = framed;
    }
    if (encoding) ch_encode(body, encoding);
}

static enum MHD_Result answer(struct request *r) {
    bool failed = r->error.code != 0;
    unsigned status = failed ? ch_status_of(r->error.code) : 200;
    struct ch_buf *body = failed ? &r->error.text : &r->result.body;
    if (failed) ch_buf_print(body, " (version %s)\n", ch_version);
    if (r->counted) ch_control_end(r->query_id, status, failed ? 0 : r->result.written_rows);
    const char *encoding = wanted_encoding(r);
    pack(r, body, encoding);
    struct MHD_Response *response = response_of(body);
    if (encoding) add_header(response, "Content-Encoding", encoding);
    add_header(response, "X-ClickHouse-Query-Id", r->query_id);
    add_header(response, "X-ClickHouse-Timezone", ch_timezone);
    add_header(response, "X-ClickHouse-Server-Display-Name", "chserver");
    if (failed)
        add_exception(r, response);
    else
        add_labels(r, response);
    return send_off(r, status, response);
}

/* ---- credentials ---------------------------------------------------------------------------- */

struct credentials {
    const char *user, *password; /* NULL where not given */
    char *basic_user, *basic_password;
};

static int refuse_mix(struct request *r, const char *one, const char *other) {
    return ch_fail(&r->error, CH_AUTHENTICATION_FAILED, "AUTHENTICATION_FAILED",
                   "Invalid authentication: it is not allowed to use %s and %s simultaneously", one,
                   other);
}

/* Three schemes; a request may use one of them. */
static int take_credentials(struct request *r, struct credentials *got) {
    const char *named = header(r, "X-ClickHouse-User"), *key = header(r, "X-ClickHouse-Key");
    bool headers = named || key, basic = header(r, "Authorization");
    bool url = url_value(r, "user") || url_value(r, "password");
    if (headers && basic) return refuse_mix(r, "X-ClickHouse HTTP headers", "Authorization header");
    if (headers && url) return refuse_mix(r, "X-ClickHouse HTTP headers", "URL parameters");
    if (basic && url) return refuse_mix(r, "Authorization header", "URL parameters");
    got->user = headers ? named : url_value(r, "user");
    got->password = headers ? key : url_value(r, "password");
    if (!basic) return 0;
    got->user = got->basic_user =
        MHD_basic_auth_get_username_password(r->connection, &got->basic_password);
    got->password = got->basic_password;
    if (got->user) return 0;
    return ch_fail(&r->error, CH_AUTHENTICATION_FAILED, "AUTHENTICATION_FAILED",
                   "Invalid authentication: the Authorization header is not Basic");
}

static int check_credentials(struct request *r, const struct credentials *given) {
    const char *user = given->user ? given->user : "default";
    const char *password = given->password ? given->password : "";
    if (!options.user) return 0;
    bool known = strcmp(user, options.user) == 0;
    if (known && strcmp(password, options.password) == 0) return 0;
    if (known && !*password)
        return ch_fail(&r->error, CH_REQUIRED_PASSWORD, "REQUIRED_PASSWORD",
                       "Password required for user %.64s", user);
    return ch_fail(&r->error, CH_AUTHENTICATION_FAILED, "AUTHENTICATION_FAILED",
                   "%.64s: Authentication failed: password is incorrect, or there is no user with "
                   "such name",
                   user);
}

static int authenticate(struct request *r) {
    struct credentials given = {0};
    int failed = take_credentials(r, &given);
    if (!failed) failed = check_credentials(r, &given);
    if (given.basic_user) MHD_free(given.basic_user);
    if (given.basic_password) MHD_free(given.basic_password);
    return failed;
}

/* ---- parameters ----------------------------------------------------------------------------- */

/* URL keys that are neither settings nor query parameters. */
static bool is_reserved(const char *name) {
    static const char *const RESERVED[] = {
        "query",           "compress",
        "decompress",      "user",
        "password",        "quota_key",
        "query_id",        "stacktrace",
        "buffer_size",     "wait_end_of_query",
        "database",        "default_format",
        "session_timeout", "session_check",
        "close_session",   "client_protocol_version",
        "session_id",      "role",
    };
    for (size_t i = 0; i < sizeof RESERVED / sizeof *RESERVED; i++)
        if (strcmp(name, RESERVED[i]) == 0) return true;
    return false;
}

static enum MHD_Result take_param(void *closure, enum MHD_ValueKind kind, const char *name,
                                  size_t name_len, const char *value, size_t value_len) {
    struct request *r = closure;
    struct ch_pair pair = {name, name_len, value ? value : "", value_len};
    (void)kind;
    if (is_reserved(name)) return MHD_YES;
    if (strncmp(name, "param_", 6) == 0) {
        pair.name += 6;
        pair.name_len -= 6;
        ch_pairs_add(&r->query.params, pair);
    } else {
        ch_pairs_add(&r->query.settings, pair);
    }
    return MHD_YES;
}

/* Sessions and roles would need state here: refused rather than ignored. */
static int take_params(struct request *r) {
    if (url_value(r, "session_id") || url_value(r, "role"))
        return ch_fail(&r->error, CH_NOT_IMPLEMENTED, "NOT_IMPLEMENTED",
                       "This test server has neither sessions nor roles");
    MHD_get_connection_values_n(r->connection, MHD_GET_ARGUMENT_KIND, take_param, r);
    const char *database = url_value(r, "database");
    r->query.database = database ? database : header(r, "X-ClickHouse-Database");
    const char *format = url_value(r, "default_format");
    if (!format) format = header(r, "X-ClickHouse-Format");
    if (format) r->query.format = format;
    r->query.readonly = !r->post;
    return 0;
}

static void take_query_id(struct request *r) {
    const char *given = url_value(r, "query_id");
    if (given && *given) {
        snprintf(r->query_id, sizeof r->query_id, "%s", given);
        return;
    }
    unsigned char b[16];
    if (getrandom(b, sizeof b, 0) != sizeof b) abort();
    b[6] = (unsigned char)((b[6] & 0x0f) | 0x40);
    b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
    size_t at = 0;
    for (size_t i = 0; i < sizeof b; i++) {
        const char *dash = i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "";
        at += (size_t)snprintf(r->query_id + at, sizeof r->query_id - at, "%s%02x", dash, b[i]);
    }
}

/* ---- the query ------------------------------------------------------------------------------ */

static int decode_body(struct request *r) {
    const char *encoding = header(r, "Content-Encoding");
    r->wire_bytes = r->body.len;
    if (encoding && *encoding && ch_body_decode(&r->body, encoding, &r->error)) return -1;
    return flag(r, "decompress") ? ch_body_unframe(&r->body, &r->error) : 0;
}

/* The SQL is the URL's query, a newline, and the body. The rows of an INSERT are copied only where
 * they are not the body as it is. */
static void join_sql(struct request *r) {
    const char *query = url_value(r, "query");
    if (query && *query) {
        ch_buf_text(&r->sql, query);
        ch_buf_text(&r->sql, "\n");
        ch_buf_add(&r->sql, r->body.at, r->body.len);
    } else {
        r->sql = r->body;
        r->body = (struct ch_buf){0};
    }
    r->query.sql = r->sql.at ? r->sql.at : "";
    r->query.sql_len = r->sql.len;
}

static int scan(struct request *r) {
    join_sql(r);
    if (ch_sql_scan(r->query.sql, r->query.sql_len, &r->scanned, &r->error)) return -1;
    r->query.scanned = &r->scanned;
    if (!r->scanned.has_data) return 0;
    r->query.data = r->query.sql + r->scanned.data_at;
    r->query.data_len = r->query.sql_len - r->scanned.data_at;
    return 0;
}

static int begin(struct request *r) {
    r->counted = true;
    if (ch_control_begin(r->query_id, r->post, r->wire_bytes)) return 0;
    return ch_fail(&r->error, CH_QUERY_ALREADY_RUNNING, "QUERY_WITH_SAME_ID_IS_ALREADY_RUNNING",
                   "Query with id = %s is already running", r->query_id);
}

static enum MHD_Result run(struct request *r) {
    r->query.format = "TabSeparated";
    take_query_id(r);
    if (!authenticate(r) && !take_params(r) && !decode_body(r) && !scan(r) && !begin(r))
        ch_engine_run(&r->query, &r->result, &r->error);
    return answer(r);
}

static enum MHD_Result answer_control(const struct request *r) {
    struct ch_buf body = {0};
    const char *query_id = url_value(r, "query_id");
    bool known = ch_control_answer(r->path, query_id ? query_id : "", &body);
    struct MHD_Response *response = response_of(&body);
    ch_buf_free(&body);
    add_header(response, "Content-Type", "application/json");
    return send_off(r, known ? 200 : 404, response);
}

static enum MHD_Result route(struct request *r) {
    if (strncmp(r->path, "/_control/", 10) == 0) return answer_control(r);
    if (strcmp(r->path, "/ping") == 0) return answer_text(r, 200, "Ok.\n");
    if (strcmp(r->path, "/replicas_status") == 0) return answer_text(r, 200, "Ok.\n");
    if (strcmp(r->path, "/") != 0) return answer_text(r, 404, "There is no handle\n");
    bool empty = !r->post && !url_value(r, "query");
    return empty ? answer_text(r, 200, "Ok.\n") : run(r);
}

/* ---- libmicrohttpd -------------------------------------------------------------------------- */

static enum MHD_Result start(struct MHD_Connection *connection, const char *path,
                             const char *method, void **state) {
    struct request *r = calloc(1, sizeof *r);
    if (!r) abort();
    *state = r;
    r->connection = connection;
    r->path = path;
    r->post = strcmp(method, "POST") == 0;
    /* The keep-alive timeout is for connections that idle, not for a query that takes its time. */
    MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, 0U);
    return MHD_YES;
}

static enum MHD_Result receive(void *closure, struct MHD_Connection *connection, const char *path,
                               const char *method, const char *version, const char *data,
                               size_t *len, void **state) {
    (void)closure;
    (void)version;
    if (!*state) return start(connection, path, method, state);
    struct request *r = *state;
    r->path = path;
    if (*len == 0) return route(r);
    ch_buf_add(&r->body, data, *len);
    *len = 0;
    return MHD_YES;
}

static void finish(void *closure, struct MHD_Connection *connection, void **state,
                   enum MHD_RequestTerminationCode why) {
    struct request *r = *state;
    (void)closure;
    (void)why;
    if (!r) return;
    MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, options.keep_alive_s);
    ch_buf_free(&r->body);
    ch_buf_free(&r->sql);
    ch_buf_free(&r->error.text);
    ch_buf_free(&r->result.body);
    free(r->query.settings.at);
    free(r->query.params.at);
    free(r);
    *state = NULL;
}

static void connected(void *closure, struct MHD_Connection *connection, void **state,
                      enum MHD_ConnectionNotificationCode what) {
    (void)closure;
    (void)connection;
    (void)state;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) ch_control_connection();
}

struct MHD_Daemon *ch_http_start(const struct ch_options *given) {
    enum { REQUEST_LINE_BYTES = 3 << 20 }; /* room for a URI of 1 MiB, twice, and a read buffer */
    options = *given;
    struct sockaddr_in loopback = {.sin_family = AF_INET,
                                   .sin_port = htons(given->port),
                                   .sin_addr = {htonl(INADDR_LOOPBACK)}};
    return MHD_start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL, 0, NULL,
        NULL, receive, NULL, MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&loopback,
        MHD_OPTION_NOTIFY_COMPLETED, finish, NULL, MHD_OPTION_NOTIFY_CONNECTION, connected, NULL,
        MHD_OPTION_CONNECTION_TIMEOUT, options.keep_alive_s, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)REQUEST_LINE_BYTES, MHD_OPTION_LISTENING_ADDRESS_REUSE, 1U, MHD_OPTION_END);
}
