/* url: where a pool sends to.
 *
 *   http://[user[:password]@]host[:port][/path][?database=name&setting=value…]    (or https)
 *   chdb:PATH       ClickHouse embedded in this process; no path, or :memory:, for none on disk
 *   file:DIR        batches left as files; file:///dir too
 */
#ifndef CHUTE_URL_H
#define CHUTE_URL_H

#include "chute.h"

#include <stdbool.h>

enum { CHUTE_URL_HTTP, CHUTE_URL_HTTPS, CHUTE_URL_CHDB, CHUTE_URL_FILE };

/* Texts are NUL-ended, decoded and owned; "" where absent, but for user, password and database:
 * NULL where absent. */
typedef struct chute_url {
    int scheme;
    uint16_t port;
    char *user, *password, *database;
    char *host;  /* a name, an IPv4 or, without brackets, an IPv6 address */
    char *path;  /* HTTP: as given, percent-encoded, "/" at least, no query; else the folder */
    char *place; /* for messages, without credentials: "host:port", "chdb:PATH", "file:DIR" */
    chute_pair *settings; /* the query's other keys */
    size_t settings_count;
} chute_url;

/* 0 and `*url`, to be cleared, or CHUTE_E_ARG, CHUTE_E_NOMEM. The message shows no credentials. */
int chute_url_parse(const char *text, chute_url *url, chute_error *err);
/* Adds settings to those of the query (copied): they win. False: no memory. */
bool chute_url_add_settings(chute_url *url, const chute_pair *settings, size_t count);
void chute_url_clear(chute_url *url);

/* Appends `len` bytes to `out` so that they stand for themselves in a URL's query. `out` must
 * have room for 3 * len + 1 bytes. Returns the length written; NUL-ended. */
size_t chute_url_escape(char *out, const char *bytes, size_t len);

/* Whether HTTP's interface takes a URL key for itself, so that it can be no setting ("database" may
 * stand in a URL, but is none either). */
bool chute_url_is_reserved(const char *name);

#endif
