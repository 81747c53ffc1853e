#include "check.h"
#include "url.h"

#include <stdlib.h>

#define CHECK_STRING(wanted, got)                                                                  \
    CHECK_TEXT(wanted, (got) ? (got) : "(none)", strlen((got) ? (got) : "(none)"))

static void http(void) {
    chute_url url;
    CHECK_INT(0, chute_url_parse("http://localhost", &url, NULL));
    CHECK_INT(CHUTE_URL_HTTP, url.scheme);
    CHECK_STRING("localhost", url.host);
    CHECK_INT(8123, url.port);
    CHECK_STRING("/", url.path);
    CHECK_STRING("localhost:8123", url.place);
    CHECK(!url.user && !url.password && !url.database);
    CHECK_INT(0, url.settings_count);
    chute_url_clear(&url);

    CHECK_INT(0, chute_url_parse("HTTPS://bob:p%40s%3As@db.example.com:9440/click/house?"
                                 "database=my%20db&max_threads=4&note=a+b",
                                 &url, NULL));
    CHECK_INT(CHUTE_URL_HTTPS, url.scheme);
    CHECK_STRING("bob", url.user);
    CHECK_STRING("p@s:s", url.password);
    CHECK_STRING("db.example.com", url.host);
    CHECK_INT(9440, url.port);
    CHECK_STRING("/click/house", url.path);
    CHECK_STRING("my db", url.database);
    CHECK_STRING("db.example.com:9440", url.place);
    CHECK_INT(2, url.settings_count);
    CHECK_STRING("max_threads", url.settings[0].name);
    CHECK_STRING("4", url.settings[0].value);
    CHECK_STRING("a b", url.settings[1].value);
    chute_url_clear(&url);

    CHECK_INT(0, chute_url_parse("https://h", &url, NULL));
    CHECK_INT(8443, url.port);
    chute_url_clear(&url);
}

static void hosts(void) {
    chute_url url;
    CHECK_INT(0, chute_url_parse("http://[::1]:8123/", &url, NULL));
    CHECK_STRING("::1", url.host);
    CHECK_STRING("[::1]:8123", url.place);
    chute_url_clear(&url);
    CHECK_INT(0, chute_url_parse("http://u@[fe80::1]", &url, NULL));
    CHECK_STRING("u", url.user);
    CHECK(!url.password);
    CHECK_STRING("fe80::1", url.host);
    chute_url_clear(&url);
    CHECK_INT(0, chute_url_parse("http://:secret@h/", &url, NULL));
    CHECK_STRING("", url.user);
    CHECK_STRING("secret", url.password);
    chute_url_clear(&url);
    CHECK_INT(0, chute_url_parse("http://a@b:c@h/", &url, NULL)); /* the last @ ends them */
    CHECK_STRING("a@b", url.user);
    CHECK_STRING("h", url.host);
    chute_url_clear(&url);
}

static void folders(void) {
    static const struct {
        const char *text, *path, *place;
        int scheme;
    } cases[] = {{"chdb:", "", "chdb:", CHUTE_URL_CHDB},
                 {"chdb::memory:", "", "chdb:", CHUTE_URL_CHDB},
                 {"chdb:/var/lib/x", "/var/lib/x", "chdb:/var/lib/x", CHUTE_URL_CHDB},
                 {"chdb:data", "data", "chdb:data", CHUTE_URL_CHDB},
                 {"file:/tmp/out", "/tmp/out", "file:/tmp/out", CHUTE_URL_FILE},
                 {"file:///tmp/out", "/tmp/out", "file:/tmp/out", CHUTE_URL_FILE},
                 {"file:out", "out", "file:out", CHUTE_URL_FILE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        chute_url url;
        CHECK_INT(0, chute_url_parse(cases[i].text, &url, NULL));
        CHECK_INT(cases[i].scheme, url.scheme);
        CHECK_STRING(cases[i].path, url.path);
        CHECK_STRING(cases[i].place, url.place);
        chute_url_clear(&url);
    }
}

static void bad_ones(void) {
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "bad URL: it starts with none of http:, https:, chdb:, file:"},
        {"localhost:8123", "bad URL: it starts with none of http:, https:, chdb:, file:"},
        {"ftp://h/", "bad URL: it starts with none of http:, https:, chdb:, file:"},
        {"http:h", "bad URL: no '//' after the scheme"},
        {"http://", "bad URL: no host"},
        {"http://:80/", "bad URL: no host"},
        {"http://u:secret@/", "bad URL: no host"},
        {"http://h:0/", "bad URL (host 'h'): a bad port"},
        {"http://h:65536/", "bad URL (host 'h'): a bad port"},
        {"http://h:99999999999999999999/", "bad URL (host 'h'): a bad port"},
        {"http://h:/", "bad URL (host 'h'): a bad port"},
        {"http://h:8x/", "bad URL (host 'h'): a bad port"},
        {"http://[::1/", "bad URL: '[' without ']'"},
        {"http://[::1]x/", "bad URL (host '::1'): something else than a port after the host"},
        {"http://[host]/", "bad URL (host 'host'): a bad host name"},
        {"http://a b/", "bad URL (host 'a b'): a bad host name"},
        {"http://a%0ab/", "bad URL (host 'a\\x0Ab'): a bad host name"},
        {"http://a%zz/", "bad URL: a broken %-escape"},
        {"http://a%00/", "bad URL: a broken %-escape"},
        {"http://u:se%cret@h/", "bad URL: a broken %-escape"},
        {"http://u:secret@h/#x", "bad URL (host 'h'): a fragment ('#')"},
        {"http://u:secret@h/a b", "bad URL (host 'h'): a blank in the path"},
        {"http://h/?x", "bad URL (host 'h'): a query that is not name=value"},
        {"http://h/?=x", "bad URL (host 'h'): a query that is not name=value"},
        {"http://h/?password=secret",
         "bad URL (host 'h'): a query key that cannot stand there (user and password go before the "
         "host, or in options of their own)"},
        {"file:", "bad URL: no folder after file:"},
        {"file://host/dir", "bad URL: file: takes a folder of this machine"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        chute_url url;
        chute_error err = {0};
        CHECK_INT(CHUTE_E_ARG, chute_url_parse(cases[i].text, &url, &err));
        CHECK_INT(CHUTE_E_ARG, err.kind);
        CHECK_STRING(cases[i].message, err.message);
        CHECK(!strstr(err.message, "secret"));
    }
}

/* No text of any kind may do harm: every short one over the signs that matter is tried. */
static void any_text(void) {
    static const char signs[] = "/:@[]%?&=#+a1\n\xff";
    unsigned long state = 1;
    for (int i = 0; i < 200000; i++) {
        char text[32] = "http://";
        size_t len = strlen(text) - (size_t)(i % 2);
        for (int n = i % 20; n > 0; n--) {
            state = state * 6364136223846793005UL + 1442695040888963407UL;
            text[len++] = signs[(state >> 33) % (sizeof signs - 1)];
        }
        chute_url url;
        chute_error err;
        if (chute_url_parse(text, &url, &err) == 0) chute_url_clear(&url);
    }
    CHECK(1);
}

static void escapes(void) {
    char out[64];
    size_t len = chute_url_escape(out, "a-._~Z9 &=\n\0\xe2", 13);
    CHECK_TEXT("a-._~Z9%20%26%3D%0A%00%E2", out, len);
    CHECK_INT(0, chute_url_escape(out, "", 0));
}

int main(void) {
    http();
    hosts();
    folders();
    bad_ones();
    any_text();
    escapes();
    return check_report("core/url");
}
