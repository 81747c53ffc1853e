#include "exchange.h"

#include "clock.h"
#include "compress.h"
#include "error.h"
#include "exception.h"
#include "uuid.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

enum {
    INSERT_ANSWER_MAX = 1 << 20,
    QUERY_ANSWER_MAX = 1 << 30,
    UPLOAD_BUFFER = 256 * 1024,
    RETRY_AFTER_MAX_S = 3600,
    CONNECTION_AGE_S = 300 /* then names are resolved again, and load finds its new place */
};

static bool is_ping(const chute_request *request) {
    return request->kind == CHUTE_REQUEST_PING || request->kind == CHUTE_REQUEST_PROBE;
}

/* ---- what libcurl calls ------------------------------------------------------------------- */

static size_t read_body(char *out, size_t size, size_t count, void *arg) {
    chute_exchange *x = arg;
    size_t room = size * count, written = 0;
    for (struct chute_part *part = x->parts; part < x->parts + 2 && room; part++) {
        size_t n = part->len < room ? part->len : room;
        if (n) memcpy(out + written, part->at, n);
        part->at += n;
        part->len -= n;
        written += n;
        room -= n;
    }
    return written;
}

/* What refuses a statement does not flow. */
static bool flows(const chute_exchange *x) {
    long status = 0;
    if (!x->request->stream || x->code) return false;
    curl_easy_getinfo(x->easy, CURLINFO_RESPONSE_CODE, &status);
    return status == 200;
}

static size_t let_flow(chute_exchange *x, const char *bytes, size_t len) {
    if (!x->request->flow.begun) x->request->outcome.status = 200;
    int added = chute_request_flow(x->request, bytes, len, !x->has_query_id);
    if (added == 0) return CURL_WRITEFUNC_PAUSE;
    return added > 0 ? len : 0;
}

static size_t take_body(char *bytes, size_t size, size_t count, void *arg) {
    chute_exchange *x = arg;
    if (flows(x)) return let_flow(x, bytes, size * count);
    return chute_text_add(&x->request->outcome.body, bytes, size * count) ? size * count : 0;
}

/* libcurl is about to send. It sends again by itself when a kept connection breaks; for all but a
 * ping that is ours to decide, since the server may have taken the first. */
static int before_sending(void *arg, char *ip, char *local_ip, int port, int local_port) {
    chute_exchange *x = arg;
    (void)ip, (void)local_ip, (void)port, (void)local_port;
    x->attempts++;
    bool again = x->attempts > 1 && !is_ping(x->request);
    return again ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

/* ---- headers of the answer ---------------------------------------------------------------- */

static void copy_value(char *out, size_t capacity, const char *value, size_t len) {
    size_t n = len < capacity ? len : capacity - 1;
    memcpy(out, value, n);
    out[n] = '\0';
}

static int32_t number_in(const char *value, size_t len) {
    int32_t number = 0;
    for (size_t i = 0; i < len && value[i] >= '0' && value[i] <= '9' && number < 1000000; i++)
        number = number * 10 + (value[i] - '0');
    return number;
}

static void take_keep_alive(chute_exchange *x, const char *value, size_t len) {
    static const char key[] = "timeout=";
    const char *at = memmem(value, len, key, sizeof key - 1);
    if (!at) return;
    at += sizeof key - 1;
    int32_t seconds = number_in(at, len - (size_t)(at - value));
    x->keep_alive_s = seconds > 0 ? (uint32_t)seconds : 1;
}

/* Seconds, or a date. */
static uint32_t retry_after_ms(const char *value, size_t len) {
    char date[64];
    if (len && value[0] >= '0' && value[0] <= '9') return (uint32_t)number_in(value, len) * 1000;
    copy_value(date, sizeof date, value, len);
    time_t at = curl_getdate(date, NULL), now = time(NULL);
    return at > now ? (uint32_t)(at - now < RETRY_AFTER_MAX_S ? at - now : RETRY_AFTER_MAX_S) * 1000
                    : 0;
}

static bool is_named(const char *name, size_t len, const char *wanted) {
    return len == strlen(wanted) && strncasecmp(name, wanted, len) == 0;
}

static void take_header(chute_exchange *x, const char *name, size_t name_len, const char *value,
                        size_t len) {
    static const char prefix[] = "X-ClickHouse-";
    chute_outcome *out = &x->request->outcome;
    if (x->request->flow.begun) return; /* of a trailer: the caller may be reading */
    if (is_named(name, name_len, "Keep-Alive")) take_keep_alive(x, value, len);
    if (is_named(name, name_len, "Retry-After")) out->retry_after_ms = retry_after_ms(value, len);
    if (name_len < sizeof prefix || strncasecmp(name, prefix, sizeof prefix - 1) != 0) return;
    name += sizeof prefix - 1;
    name_len -= sizeof prefix - 1;
    x->from_clickhouse = true;
    if (is_named(name, name_len, "Exception-Code")) {
        int32_t code = number_in(value, len);
        x->code = code ? code : -1;
    } else if (is_named(name, name_len, "Progress")) {
        chute_request_tell(x->request, value, len);
    } else if (is_named(name, name_len, "Exception-Tag")) {
        copy_value(x->tag, sizeof x->tag, value, len);
    } else if (is_named(name, name_len, "Summary")) {
        copy_value(out->summary, sizeof out->summary, value, len);
    } else if (is_named(name, name_len, "Query-Id")) {
        x->has_query_id = true;
        copy_value(out->query_id, sizeof out->query_id, value, len);
    } else if (is_named(name, name_len, "Format")) {
        copy_value(out->format, sizeof out->format, value, len);
    } else if (is_named(name, name_len, "Timezone")) {
        copy_value(out->timezone, sizeof out->timezone, value, len);
    }
}

/* What the headers said so far, forgotten: a new answer begins (after 100 Continue, say). */
static void forget_headers(chute_exchange *x) {
    x->code = 0;
    x->tag[0] = '\0';
    x->from_clickhouse = x->has_query_id = false;
    x->keep_alive_s = 0;
}

static size_t take_header_line(char *line, size_t size, size_t count, void *arg) {
    chute_exchange *x = arg;
    size_t len = size * count, all = len;
    while (len && (unsigned char)line[len - 1] <= ' ') len--;
    const char *colon = len ? memchr(line, ':', len) : NULL;
    if (len > 5 && memcmp(line, "HTTP/", 5) == 0) {
        forget_headers(x);
    } else if (colon) {
        const char *value = colon + 1;
        while (value < line + len && (*value == ' ' || *value == '\t')) value++;
        take_header(x, line, (size_t)(colon - line), value, (size_t)(line + len - value));
    }
    return all;
}

/* ---- the handle --------------------------------------------------------------------------- */

static void set_up(chute_exchange *x, const struct chute_transport_config *config) {
    CURL *easy = x->easy;
    curl_easy_setopt(easy, CURLOPT_PRIVATE, x);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, x->problem);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_TCP_NODELAY, 1L);
    curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, (long)UPLOAD_BUFFER);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)config->connect_ms);
    curl_easy_setopt(easy, CURLOPT_MAXLIFETIME_CONN, (long)CONNECTION_AGE_S);
    curl_easy_setopt(easy, CURLOPT_DNS_CACHE_TIMEOUT, 0L); /* resolve at each connect */
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "chute");
    curl_easy_setopt(easy, CURLOPT_READFUNCTION, read_body);
    curl_easy_setopt(easy, CURLOPT_READDATA, x);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, x);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header_line);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, x);
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, before_sending);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, x);
    chute_access_apply(config->access, easy);
}

chute_exchange *chute_exchange_new(const struct chute_transport_config *config) {
    chute_exchange *x = calloc(1, sizeof *x);
    if (!x) return NULL;
    x->timeout_ms = config->timeout_ms;
    x->stall_ms = config->stall_ms;
    x->access = config->access;
    x->easy = curl_easy_init();
    if (!x->easy) {
        free(x);
        return NULL;
    }
    set_up(x, config);
    return x;
}

void chute_exchange_free(chute_exchange *x) {
    chute_exchange_reset(x);
    curl_easy_cleanup(x->easy);
    chute_text_clear(&x->url);
    free(x);
}

void chute_exchange_reset(chute_exchange *x) {
    curl_easy_setopt(x->easy, CURLOPT_HTTPHEADER, NULL);
    curl_slist_free_all(x->headers);
    curl_easy_setopt(x->easy, CURLOPT_CONNECT_TO, NULL);
    curl_slist_free_all(x->connect_to);
    x->headers = x->connect_to = NULL;
    x->request = NULL;
}

/* ---- the URL ------------------------------------------------------------------------------ */

static void add_key(chute_text *url, const char *prefix, const char *name, const char *value) {
    char before = url->at && memchr(url->at, '?', url->len) ? '&' : '?';
    chute_text_add(url, &before, 1);
    chute_text_add(url, prefix, strlen(prefix));
    chute_text_escape(url, name, strlen(name));
    chute_text_add(url, "=", 1);
    chute_text_escape(url, value, strlen(value));
}

/* libcurl wants the certificate of the URL's host, so that this becomes another than the place it
 * connects to. */
static bool connect_elsewhere(chute_exchange *x) {
    chute_text to = {0};
    if (chute_text_print(&to, "::%s", x->host->url.place))
        x->connect_to = curl_slist_append(NULL, to.at);
    chute_text_clear(&to);
    curl_easy_setopt(x->easy, CURLOPT_CONNECT_TO, x->connect_to);
    return x->connect_to != NULL;
}

static bool add_server(chute_exchange *x) {
    const chute_url *to = &x->host->url;
    const char *name = to->scheme == CHUTE_URL_HTTPS ? x->access->server_name : NULL;
    const char *scheme = to->scheme == CHUTE_URL_HTTPS ? "https" : "http";
    if (!name) return chute_text_print(&x->url, "%s://%s%s", scheme, to->place, to->path);
    return chute_text_print(&x->url, "%s://%s:%u%s", scheme, name, to->port, to->path) &&
           connect_elsewhere(x);
}

static void add_ping(chute_text *url) {
    const char *slash = url->len && url->at[url->len - 1] == '/' ? "" : "/";
    chute_text_print(url, "%sping", slash);
}

static bool add_settings(chute_exchange *x) {
    size_t max = chute_host_settings_max(x->host, x->request);
    chute_pair *settings = calloc(max, sizeof *settings);
    if (!settings) return false;
    size_t count = chute_host_settings(x->host, x->request, settings);
    for (size_t i = 0; i < count; i++) add_key(&x->url, "", settings[i].name, settings[i].value);
    free(settings);
    return true;
}

static bool write_url(chute_exchange *x) {
    chute_text *url = &x->url;
    const chute_request *request = x->request;
    const chute_url *to = &x->host->url;
    chute_text_reset(url);
    if (!add_server(x)) return false;
    if (is_ping(request)) {
        add_ping(url);
        return !url->failed;
    }
    add_key(url, "", "query_id", request->outcome.query_id);
    if (to->database) add_key(url, "", "database", to->database);
    for (size_t i = 0; i < x->access->roles_count; i++)
        add_key(url, "", "role", x->access->roles[i]);
    if (request->format) add_key(url, "", "default_format", request->format);
    if (request->packed && chute_compress_is_block(request->compression))
        add_key(url, "", "decompress", "1");
    if (request->compress_response) add_key(url, "", "enable_http_compression", "1");
    if (request->tells_progress) add_key(url, "", "send_progress_in_http_headers", "1");
    for (size_t i = 0; i < request->params_count; i++)
        add_key(url, "param_", request->params[i].name, request->params[i].value);
    if (!add_settings(x)) return false;
    if (!request->sql_first) {
        chute_text_add(url, "&query=", strlen("&query="));
        chute_text_escape(url, request->sql, request->sql_len);
    }
    return !url->failed;
}

/* ---- headers and body --------------------------------------------------------------------- */

static bool add_header(chute_exchange *x, const char *name, const char *value) {
    chute_text line = {0};
    chute_text_print(&line, "%s: %s", name, value);
    struct curl_slist *grown = line.failed ? NULL : curl_slist_append(x->headers, line.at);
    chute_text_clear(&line);
    if (grown) x->headers = grown;
    return grown != NULL;
}

static bool add_credentials(chute_exchange *x) {
    const chute_url *to = &x->host->url;
    const char *user = to->user ? to->user : "default";
    if (x->access->auth == CHUTE_AUTH_BEARER) {
        chute_text value = {0};
        bool fine = chute_text_print(&value, "Bearer %s", x->access->token) &&
                    add_header(x, "Authorization", value.at);
        chute_text_clear(&value);
        return fine;
    }
    if (!to->user && !to->password) return true;
    if (x->access->auth == CHUTE_AUTH_HEADERS)
        return add_header(x, "X-ClickHouse-User", user) &&
               (!to->password || add_header(x, "X-ClickHouse-Key", to->password));
    curl_easy_setopt(x->easy, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
    return !curl_easy_setopt(x->easy, CURLOPT_USERNAME, user) &&
           !curl_easy_setopt(x->easy, CURLOPT_PASSWORD, to->password ? to->password : "");
}

static bool write_headers(chute_exchange *x) {
    const chute_request *request = x->request;
    const char *encoding = request->packed ? chute_compress_encoding(request->compression) : NULL;
    struct curl_slist *no_expect = curl_slist_append(x->headers, "Expect:");
    if (!no_expect) return false;
    x->headers = no_expect;
    bool fine = add_header(x, "Content-Type", "application/octet-stream");
    fine = fine && add_credentials(x);
    if (encoding) fine = fine && add_header(x, "Content-Encoding", encoding);
    for (size_t i = 0; fine && i < request->headers_count; i++)
        fine = add_header(x, request->headers[i].name, request->headers[i].value);
    return fine;
}

/* The body in up to two parts, so that the rows need no copy. Returns its length. */
static size_t lay_out_body(chute_exchange *x) {
    const chute_request *request = x->request;
    memset(x->parts, 0, sizeof x->parts);
    if (request->packed) {
        x->parts[0] = (struct chute_part){request->packed, request->packed_len};
    } else {
        size_t newline = request->rows != NULL;
        if (request->sql_first)
            x->parts[0] = (struct chute_part){request->sql, request->sql_len + newline};
        x->parts[1] = (struct chute_part){request->rows, request->rows_len};
    }
    return x->parts[0].len + x->parts[1].len;
}

/* A stream's caller may take its time: what counts there is a time without a byte. */
static void set_times(chute_exchange *x, uint32_t timeout_ms) {
    bool stream = x->request->stream;
    long seconds = (long)(timeout_ms / 1000 + (timeout_ms % 1000 != 0));
    curl_easy_setopt(x->easy, CURLOPT_TIMEOUT_MS, stream ? 0L : (long)timeout_ms);
    curl_easy_setopt(x->easy, CURLOPT_LOW_SPEED_LIMIT, stream ? 1L : 0L);
    curl_easy_setopt(x->easy, CURLOPT_LOW_SPEED_TIME, stream ? seconds : 0L);
}

/* What libcurl can undo, the best first: ClickHouse takes the first it knows. */
static const char *encodings(void) {
    bool zstd = curl_version_info(CURLVERSION_NOW)->features & CURL_VERSION_ZSTD;
    return zstd ? "zstd, gzip" : "gzip";
}

static void set_options(chute_exchange *x, uint32_t max_idle_s) {
    CURL *easy = x->easy;
    const chute_request *request = x->request;
    uint32_t timeout_ms = request->timeout_ms ? request->timeout_ms : x->timeout_ms;
    x->body_len = lay_out_body(x);
    x->sent = 0;
    x->moved_at = 0;
    curl_easy_setopt(easy, CURLOPT_URL, x->url.at);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, x->headers);
    curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING,
                     request->compress_response ? encodings() : NULL);
    set_times(x, timeout_ms);
    curl_easy_setopt(easy, CURLOPT_MAXAGE_CONN, (long)max_idle_s);
    curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, max_idle_s == 0 ? 1L : 0L);
    if (is_ping(request)) {
        curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
    } else {
        curl_easy_setopt(easy, CURLOPT_POST, 1L);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)x->body_len);
    }
}

int chute_exchange_prepare(chute_exchange *x, chute_request *request, uint32_t max_idle_s,
                           chute_error *err) {
    char id[CHUTE_UUID_TEXT];
    x->request = request;
    x->host = request->host;
    x->attempts = 0;
    x->problem[0] = '\0';
    forget_headers(x);
    chute_text_reset(&request->outcome.body);
    request->outcome.body.limit = request->insert ? INSERT_ANSWER_MAX : QUERY_ANSWER_MAX;
    if (chute_uuid_v4(id))
        return chute_fail(err, CHUTE_E_SYSTEM, "the system gives no random numbers");
    memcpy(request->outcome.query_id, id, sizeof id);
    if (!write_url(x) || !write_headers(x))
        return chute_fail(err, CHUTE_E_NOMEM, "no memory for a request");
    set_options(x, max_idle_s);
    return 0;
}

/* ---- stalls ------------------------------------------------------------------------------- */

bool chute_exchange_stalled(chute_exchange *x) {
    curl_off_t sent = 0;
    if (!x->attempts) return false; /* still connecting: that has a time of its own */
    curl_easy_getinfo(x->easy, CURLINFO_SIZE_UPLOAD_T, &sent);
    uint64_t now = chute_clock_ms();
    if (!x->moved_at || (size_t)sent != x->sent) x->moved_at = now;
    x->sent = (size_t)sent;
    if (x->sent >= x->body_len || now - x->moved_at < x->stall_ms) return false;
    snprintf(x->problem, sizeof x->problem, "no byte could be sent for %g s",
             (double)x->stall_ms / 1000);
    return true;
}

/* ---- outcomes ----------------------------------------------------------------------------- */

/* What will fail the same way every time, where nothing was sent: an answer that is not HTTP may be
 * a mishap. */
static bool is_lasting(CURLcode result) {
    switch (result) {
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT: return true;
    default: return false;
    }
}

static const char *problem_of(const chute_exchange *x, CURLcode result) {
    if (result == CURLE_WRITE_ERROR)
        return x->request->insert ? "the answer is longer than 1 MiB"
                                  : "the answer is longer than 1 GiB, or memory ran out";
    if (result == CURLE_ABORTED_BY_CALLBACK || result == CURLE_SEND_FAIL_REWIND)
        return "the connection was closed before an answer came";
    if (strncmp(x->problem, "Unsupported proxy", strlen("Unsupported proxy")) == 0)
        return "the proxy of the environment is no URL"; /* which may hold a password */
    return x->problem[0] ? x->problem : curl_easy_strerror(result);
}

static void fail_transfer(chute_exchange *x, CURLcode result) {
    chute_error *err = &x->request->error;
    const char *place = x->host->url.place;
    int kind = result == CURLE_OPERATION_TIMEDOUT ? CHUTE_E_TIMEOUT : CHUTE_E_NETWORK;
    chute_fail(err, kind, "%s: %s", place, problem_of(x, result));
    snprintf(err->host, sizeof err->host, "%s", place);
    err->flags = x->attempts == 0 && is_lasting(result) ? 0 : CHUTE_RETRYABLE;
    if (x->attempts) err->flags |= CHUTE_UNCERTAIN;
}

static int judge_ping(const chute_answer *answer, chute_error *err) {
    if (answer->len >= 3 && memcmp(answer->body, "Ok.", 3) == 0) return 0;
    chute_fail(err, CHUTE_E_NETWORK, "%s does not answer a ping as ClickHouse does", answer->place);
    snprintf(err->host, sizeof err->host, "%s", answer->place);
    return CHUTE_E_NETWORK;
}

void chute_exchange_judge(chute_exchange *x, CURLcode result) {
    chute_request *request = x->request;
    chute_outcome *out = &request->outcome;
    const chute_text *body = request->flow.begun ? &request->flow.text : &out->body;
    long status = 0;
    curl_easy_getinfo(x->easy, CURLINFO_RESPONSE_CODE, &status);
    if (!request->flow.begun) out->status = (int32_t)status;
    pthread_mutex_lock(&request->lock); /* of a flow, which may be taken from meanwhile */
    chute_answer answer = {.place = x->host->url.place,
                           .body = body->len ? body->at : "",
                           .len = body->len,
                           .tag = x->tag,
                           .status = (int32_t)status,
                           .code = x->code,
                           .from_clickhouse = x->from_clickhouse,
                           .old_server = !x->has_query_id,
                           .complete = result == CURLE_OK,
                           .insert = request->insert};
    int kind = status ? chute_exception_find(&answer, &request->error) : CHUTE_E_NETWORK;
    pthread_mutex_unlock(&request->lock);
    if (result != CURLE_OK && kind != CHUTE_E_SERVER) fail_transfer(x, result);
    if (kind == 0 && is_ping(request)) judge_ping(&answer, &request->error);
}
