#include "url.h"

#include "error.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HTTP_PORT = 8123, HTTPS_PORT = 8443, TEXT_MAX = 16 * 1024 };

/* ---- percent-encoding --------------------------------------------------------------------- */

static bool is_plain(unsigned char c) {
    return isalnum(c) || c == '-' || c == '.' || c == '_' || c == '~';
}

size_t chute_url_escape(char *out, const char *bytes, size_t len) {
    static const char hex[] = "0123456789ABCDEF";
    size_t at = 0;
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if (is_plain(c)) {
            out[at++] = (char)c;
        } else {
            out[at++] = '%';
            out[at++] = hex[c >> 4];
            out[at++] = hex[c & 15];
        }
    }
    out[at] = '\0';
    return at;
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes in place what stands between `text` and `end`. False: a broken escape, or a NUL. */
static bool unescape(char *text, const char *end, bool plus_is_blank) {
    char *out = text;
    for (const char *in = text; in < end; in++) {
        char c = *in;
        if (c == '%') {
            int high = end - in > 2 ? hex_digit(in[1]) : -1;
            int low = high < 0 ? -1 : hex_digit(in[2]);
            if (low < 0 || (high | low) == 0) return false;
            c = (char)(high << 4 | low);
            in += 2;
        } else if (c == '+' && plus_is_blank) {
            c = ' ';
        }
        *out++ = c;
    }
    *out = '\0';
    return true;
}

/* A decoded copy, or NULL: `*bad` tells a broken escape from a lack of memory. */
static char *decoded(const char *start, const char *end, bool plus_is_blank, bool *bad) {
    char *copy = strndup(start, (size_t)(end - start));
    if (copy && !unescape(copy, copy + (end - start), plus_is_blank)) {
        *bad = true;
        free(copy);
        return NULL;
    }
    return copy;
}

/* ---- parts of an HTTP URL ----------------------------------------------------------------- */

/* Where the parsing stands. Problems are told by a static text, shown with the place only: what
 * was given may hold a password. */
struct parser {
    chute_url *url;
    const char *problem;
    bool no_memory;
};

static bool fail(struct parser *p, const char *problem) {
    if (!p->problem) p->problem = problem;
    return false;
}

static bool take(struct parser *p, char **into, const char *start, const char *end,
                 bool plus_is_blank) {
    bool bad = false;
    free(*into);
    *into = decoded(start, end, plus_is_blank, &bad);
    if (*into) return true;
    p->no_memory = !bad;
    return fail(p, "a broken %-escape");
}

static bool take_credentials(struct parser *p, const char *start, const char *end) {
    const char *colon = memchr(start, ':', (size_t)(end - start));
    return take(p, &p->url->user, start, colon ? colon : end, false) &&
           (!colon || take(p, &p->url->password, colon + 1, end, false));
}

static bool take_port(struct parser *p, const char *start, const char *end) {
    unsigned port = 0;
    for (const char *at = start; at < end; at++) {
        if (!isdigit((unsigned char)*at) || port > UINT16_MAX) return fail(p, "a bad port");
        port = port * 10 + (unsigned)(*at - '0');
    }
    if (start == end || port == 0 || port > UINT16_MAX) return fail(p, "a bad port");
    p->url->port = (uint16_t)port;
    return true;
}

static bool is_host(const char *host, bool bracketed) {
    for (; *host; host++) {
        unsigned char c = (unsigned char)*host;
        bool fine = bracketed ? isxdigit(c) || c == ':' || c == '.'
                              : isalnum(c) || c == '-' || c == '.' || c == '_' || c >= 0x80;
        if (!fine) return false;
    }
    return true;
}

static bool take_host(struct parser *p, const char *start, const char *end) {
    bool bracketed = start < end && *start == '[';
    const char *stop = memchr(start, bracketed ? ']' : ':', (size_t)(end - start));
    if (bracketed && !stop) return fail(p, "'[' without ']'");
    const char *rest = stop ? stop + bracketed : end;
    start += bracketed;
    if (start == (stop ? stop : end)) return fail(p, "no host");
    if (!take(p, &p->url->host, start, stop ? stop : end, false)) return false;
    if (!is_host(p->url->host, bracketed)) return fail(p, "a bad host name");
    if (rest == end) return true;
    if (*rest != ':') return fail(p, "something else than a port after the host");
    return take_port(p, rest + 1, end);
}

static bool add_setting(struct parser *p, char *name, char *value) {
    chute_url *url = p->url;
    chute_pair *grown = realloc(url->settings, (url->settings_count + 1) * sizeof *grown);
    if (!grown) {
        p->no_memory = true;
        return false;
    }
    url->settings = grown;
    url->settings[url->settings_count++] = (chute_pair){name, value};
    return true;
}

bool chute_url_is_reserved(const char *name) {
    static const char *const names[] = {
        "query",      "user",           "password",      "query_id",        "compress",
        "decompress", "session_id",     "session_check", "session_timeout", "close_session",
        "stacktrace", "default_format", "buffer_size",   "quota_key",       "role"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0) return true;
    return false;
}

/* One name=value of the query. */
static bool take_query_pair(struct parser *p, const char *start, const char *end) {
    const char *equals = memchr(start, '=', (size_t)(end - start));
    if (start == end) return true;
    if (!equals || equals == start) return fail(p, "a query that is not name=value");
    char *name = NULL, *value = NULL;
    bool fine = take(p, &name, start, equals, true) && take(p, &value, equals + 1, end, true);
    if (fine && chute_url_is_reserved(name)) {
        fine = fail(p, "a query key that cannot stand there (user and password go before the "
                       "host, or in options of their own)");
    } else if (fine && strcmp(name, "database") == 0) {
        free(p->url->database);
        p->url->database = value;
        free(name);
        return true;
    }
    if (fine && add_setting(p, name, value)) return true;
    free(name);
    free(value);
    return false;
}

static bool take_query(struct parser *p, const char *start) {
    for (const char *at = start; *at;) {
        const char *end = at + strcspn(at, "&");
        if (!take_query_pair(p, at, end)) return false;
        at = *end ? end + 1 : end;
    }
    return true;
}

static bool is_path(const char *start, const char *end) {
    for (; start < end; start++)
        if ((unsigned char)*start <= ' ' || *start == 0x7F) return false;
    return true;
}

static char *host_place(const chute_url *url) {
    char *place = NULL;
    const char *form = strchr(url->host, ':') ? "[%s]:%u" : "%s:%u";
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    return asprintf(&place, form, url->host, url->port) < 0 ? NULL : place;
#pragma GCC diagnostic pop
}

static bool take_http(struct parser *p, const char *rest) {
    chute_url *url = p->url;
    if (strncmp(rest, "//", 2) != 0) return fail(p, "no '//' after the scheme");
    rest += 2;
    const char *end = rest + strcspn(rest, "/?#"), *at = memrchr(rest, '@', (size_t)(end - rest));
    if (at && !take_credentials(p, rest, at)) return false;
    if (!take_host(p, at ? at + 1 : rest, end)) return false;
    const char *path_end = end + strcspn(end, "?#");
    if (*path_end == '#' || strchr(path_end, '#')) return fail(p, "a fragment ('#')");
    if (!is_path(end, path_end)) return fail(p, "a blank in the path");
    free(url->path);
    url->path = end == path_end ? strdup("/") : strndup(end, (size_t)(path_end - end));
    url->place = host_place(url);
    if (!url->path || !url->place) p->no_memory = true;
    return !p->no_memory && (!*path_end || take_query(p, path_end + 1));
}

/* ---- folders ------------------------------------------------------------------------------ */

static bool take_folder(struct parser *p, const char *path, const char *name) {
    chute_url *url = p->url;
    free(url->path);
    url->path = strdup(path);
    if (!url->path || asprintf(&url->place, "%s:%s", name, path) < 0) {
        url->place = NULL;
        p->no_memory = true;
    }
    return !p->no_memory;
}

static bool take_chdb(struct parser *p, const char *rest) {
    if (strcmp(rest, ":memory:") == 0) rest = "";
    return take_folder(p, rest, "chdb");
}

static bool take_file(struct parser *p, const char *rest) {
    if (strncmp(rest, "///", 3) == 0) rest += 2;
    if (strncmp(rest, "//", 2) == 0) return fail(p, "file: takes a folder of this machine");
    if (!*rest) return fail(p, "no folder after file:");
    return take_folder(p, rest, "file");
}

/* ---- whole URLs --------------------------------------------------------------------------- */

static bool parse(struct parser *p, const char *text) {
    static const struct {
        const char *name;
        int scheme;
        uint16_t port;
        bool (*take)(struct parser *, const char *);
    } schemes[] = {{"http:", CHUTE_URL_HTTP, HTTP_PORT, take_http},
                   {"https:", CHUTE_URL_HTTPS, HTTPS_PORT, take_http},
                   {"chdb:", CHUTE_URL_CHDB, 0, take_chdb},
                   {"file:", CHUTE_URL_FILE, 0, take_file}};
    if (strlen(text) > TEXT_MAX) return fail(p, "too long");
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        size_t len = strlen(schemes[i].name);
        if (strncasecmp(text, schemes[i].name, len) != 0) continue;
        p->url->scheme = schemes[i].scheme;
        p->url->port = schemes[i].port;
        return schemes[i].take(p, text + len);
    }
    return fail(p, "it starts with none of http:, https:, chdb:, file:");
}

int chute_url_parse(const char *text, chute_url *url, chute_error *err) {
    *url = (chute_url){.host = strdup(""), .path = strdup("")};
    struct parser p = {.url = url, .no_memory = !url->host || !url->path};
    if (!p.no_memory && parse(&p, text)) return 0;
    char quoted[CHUTE_QUOTE_MAX];
    const char *host = url->host && *url->host ? url->host : "";
    chute_quote(host, strlen(host), quoted, sizeof quoted);
    if (p.no_memory)
        chute_fail(err, CHUTE_E_NOMEM, "no memory for a URL");
    else if (*host)
        chute_fail(err, CHUTE_E_ARG, "bad URL (host %s): %s", quoted, p.problem);
    else
        chute_fail(err, CHUTE_E_ARG, "bad URL: %s", p.problem);
    chute_url_clear(url);
    return p.no_memory ? CHUTE_E_NOMEM : CHUTE_E_ARG;
}

bool chute_url_add_settings(chute_url *url, const chute_pair *settings, size_t count) {
    struct parser p = {.url = url};
    for (size_t i = 0; i < count; i++) {
        char *name = strdup(settings[i].name), *value = strdup(settings[i].value);
        if (name && value && add_setting(&p, name, value)) continue;
        free(name);
        free(value);
        return false;
    }
    return true;
}

void chute_url_clear(chute_url *url) {
    for (size_t i = 0; i < url->settings_count; i++) {
        free((char *)url->settings[i].name);
        free((char *)url->settings[i].value);
    }
    free(url->settings);
    free(url->user);
    free(url->password);
    free(url->database);
    free(url->host);
    free(url->path);
    free(url->place);
    *url = (chute_url){0};
}
