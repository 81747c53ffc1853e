#include "check.h"
#include "exception.h"

#include <stdlib.h>

#define CHECK_STRING(wanted, got) CHECK_TEXT(wanted, got, strlen(got))

enum { R = CHUTE_RETRYABLE, U = CHUTE_UNCERTAIN };

static chute_error err;

static chute_answer answer_of(const char *body, int32_t status) {
    return (chute_answer){.place = "db:8123",
                          .body = body,
                          .len = strlen(body),
                          .tag = "",
                          .status = status,
                          .from_clickhouse = true,
                          .complete = true};
}

static void texts(void) {
    static const struct {
        const char *text, *name, *message;
        int32_t code;
        uint32_t flags;
    } cases[] = {
        {"Code: 60. DB::Exception: Table default.x does not exist. (UNKNOWN_TABLE) (version "
         "26.5.1.1 (official build))\n",
         "UNKNOWN_TABLE", "UNKNOWN_TABLE (code 60) from db:8123: Table default.x does not exist.",
         60, 0},
        {"Code: 62, e.displayText() = DB::Exception: Syntax error: failed at position 1: "
         "selectx\n. "
         "Expected one of: a, b, e.what() = DB::Exception\n",
         "",
         "code 62 from db:8123: Syntax error: failed at position 1: selectx . Expected one of: "
         "a, b",
         62, 0},
        {"Code: 241. DB::Exception: Memory limit (for query) exceeded. (MEMORY_LIMIT_EXCEEDED)",
         "MEMORY_LIMIT_EXCEEDED",
         "MEMORY_LIMIT_EXCEEDED (code 241) from db:8123: Memory limit (for query) exceeded.", 241,
         R | U},
        {"Code: 33. DB::Exception: Code: 33. DB::Exception: Cannot read all data: (at row 1). "
         "(CANNOT_READ_ALL_DATA) (version 26.5.1.1). (CANNOT_READ_ALL_DATA)",
         "CANNOT_READ_ALL_DATA",
         "CANNOT_READ_ALL_DATA (code 33) from db:8123: Cannot read all data: (at row 1).", 33, 0},
        {"Code: 252. DB::Exception: Too many parts (300). Merges are processing significantly "
         "slower than inserts. (TOO_MANY_PARTS)",
         "TOO_MANY_PARTS",
         "TOO_MANY_PARTS (code 252) from db:8123: Too many parts (300). Merges are processing "
         "significantly slower than inserts.",
         252, R | U},
        {"Code: 252. DB::Exception: Too many partitions for single INSERT block (more than 100). "
         "(TOO_MANY_PARTS)",
         "TOO_MANY_PARTS",
         "TOO_MANY_PARTS (code 252) from db:8123: Too many partitions for single INSERT block "
         "(more than 100).",
         252, U},
        {"Code: 164. DB::Exception: bob: Cannot execute query in readonly mode. (READONLY)",
         "READONLY",
         "READONLY (code 164) from db:8123: bob: Cannot execute query in readonly mode.", 164, 0},
        {"Code: 164. DB::Exception: Database is read-only for now. (READONLY)", "READONLY",
         "READONLY (code 164) from db:8123: Database is read-only for now.", 164, R},
        {"Code: 6. DB::Exception: Cannot parse string 'x' as Int8: while pushing to view d.mv "
         "(d.mv). (CANNOT_PARSE_TEXT)",
         "CANNOT_PARSE_TEXT",
         "CANNOT_PARSE_TEXT (code 6) from db:8123: Cannot parse string 'x' as Int8: while pushing "
         "to view d.mv (d.mv).",
         6, U},
        {"something else", "", "code 0 from db:8123: something else", 0, U},
        {"", "", "code 0 from db:8123: ", 0, U},
        {"Code: ", "", "code 0 from db:8123: Code:", 0, U},
        {"Code: 12345678", "", "code 123456 from db:8123: 78", 123456, U},
        {"Code: 1. DB::Exception: a\x01\xff\xc3\xa9 (b", "", "code 1 from db:8123: a??é (b", 1, U},
        {"Code: 1. DB::Exception: x)))", "", "code 1 from db:8123: x)))", 1, U},
        {"Code: 1. DB::Exception: boom, Stack trace (when copying this message): 0. a", "",
         "code 1 from db:8123: boom", 1, U},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_INT(CHUTE_E_SERVER,
                  chute_exception_read(cases[i].text, strlen(cases[i].text), 0, "db:8123", &err));
        CHECK_INT(cases[i].code, err.code);
        CHECK_STRING(cases[i].name, err.name);
        CHECK_STRING(cases[i].message, err.message);
        CHECK_STRING("db:8123", err.host);
        CHECK_INT(cases[i].flags, err.flags);
    }
}

static void long_texts(void) {
    char *text = malloc(1 << 20);
    memset(text, 'x', 1 << 20);
    memcpy(text, "Code: 5. DB::Exception: ", 24);
    for (size_t i = 900; i < 1100; i += 2) memcpy(text + i, "é", 2);
    chute_exception_read(text, 1 << 20, 0, "db:8123", &err);
    CHECK_INT(5, err.code);
    CHECK(strlen(err.message) < sizeof err.message);
    CHECK(strcmp(err.message + strlen(err.message) - strlen("é…"), "é…") == 0);
    free(text);
}

static void success(void) {
    chute_answer a = answer_of("1\n", 200);
    CHECK_INT(0, chute_exception_find(&a, &err));
    a = answer_of("", 200);
    a.insert = true;
    CHECK_INT(0, chute_exception_find(&a, &err));
}

static int find(const chute_answer *a) {
    memset(&err, 0, sizeof err);
    return chute_exception_find(a, &err);
}

static void headers(void) {
    chute_answer a = answer_of("", 200); /* 200 with the header is a failure */
    a.insert = true;
    a.code = 241;
    CHECK_INT(CHUTE_E_SERVER, find(&a));
    CHECK_INT(241, err.code);
    CHECK_INT(200, err.status);
    CHECK_INT(R | U, err.flags);
    a = answer_of("Code: 60. DB::Exception: No. (UNKNOWN_TABLE)", 404);
    CHECK_INT(CHUTE_E_SERVER, find(&a));
    CHECK_INT(60, err.code);
    CHECK_INT(404, err.status);
}

static void statuses(void) {
    static const struct {
        int32_t status;
        uint32_t flags;
    } cases[] = {{400, 0}, {403, 0},     {413, 0}, {408, R | U}, {425, R}, {429, R}, {500, U},
                 {501, U}, {502, R | U}, {503, R}, {504, R | U}, {301, U}, {204, U}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        chute_answer a = answer_of("<html>\nno</html>", cases[i].status);
        CHECK_INT(CHUTE_E_SERVER, find(&a));
        CHECK_INT(cases[i].status, err.status);
        CHECK_INT(cases[i].flags, err.flags);
        CHECK_INT(0, err.code);
    }
    chute_answer a = answer_of("", 400);
    find(&a);
    CHECK_STRING("HTTP status 400 (is the URL too long?) from db:8123: an empty answer",
                 err.message);
    a = answer_of("<html>\nno</html>", 502);
    find(&a);
    CHECK_STRING("HTTP status 502 from db:8123: '<html>\\x0Ano</html>'", err.message);
}

/* An insert is acknowledged by ClickHouse's own empty answer and by nothing else. */
static void strangers(void) {
    chute_answer a = answer_of("<html>Please log in</html>", 200);
    a.insert = true;
    CHECK_INT(CHUTE_E_NETWORK, find(&a));
    CHECK_INT(R | U, err.flags);
    a = answer_of("", 200);
    a.insert = true;
    a.from_clickhouse = false;
    CHECK_INT(CHUTE_E_NETWORK, find(&a));
    a = answer_of("", 200);
    a.insert = true;
    a.complete = false;
    CHECK_INT(CHUTE_E_NETWORK, find(&a));
    CHECK_INT(R | U, err.flags);
    a = answer_of("Code: 395, e.displayText() = DB::Exception: no, e.what() = DB::Exception", 200);
    a.insert = true;
    CHECK_INT(CHUTE_E_SERVER, find(&a));
    CHECK_INT(395, err.code);
}

static void in_mid_stream(void) {
    chute_answer a = answer_of("1\n2\n__exception__\r\nCode: 395. DB::Exception: Boom. "
                               "(FUNCTION_THROW_IF_VALUE_IS_NON_ZERO)",
                               200); /* up to 25.10 */
    a.complete = false;
    CHECK_INT(CHUTE_E_SERVER, find(&a));
    CHECK_INT(395, err.code);
    CHECK_STRING("FUNCTION_THROW_IF_VALUE_IS_NON_ZERO", err.name);

    a = answer_of("1\n2\n\r\n__exception__\r\nabcdefgh\r\nCode: 395. DB::Exception: Boom. "
                  "(FUNCTION_THROW_IF_VALUE_IS_NON_ZERO)\n69 abcdefgh\r\n__exception__\r\n",
                  200); /* from 25.11 */
    a.tag = "abcdefgh";
    CHECK_INT(CHUTE_E_SERVER, find(&a));
    CHECK_INT(395, err.code);
    CHECK_STRING("FUNCTION_THROW_IF_VALUE_IS_NON_ZERO (code 395) from db:8123: Boom.", err.message);

    a.complete = false; /* the end is missing */
    a.len -= 20;
    CHECK_INT(CHUTE_E_SERVER, find(&a));
    CHECK_INT(395, err.code);

    a = answer_of("__exception__\r\nabcdefgh\r\nas a value\n", 200); /* rows that look like it */
    a.tag = "zyxwvuts";
    CHECK_INT(0, find(&a));

    a = answer_of("1\n__exception__\r\nCode: 1. DB::Exception: a value (X)\n", 200);
    a.tag = "zyxwvuts"; /* a server that gives a tag marks with it alone */
    CHECK_INT(0, find(&a));

    const char *old = "1\n2\nCode: 395, e.displayText() = DB::Exception: Boom, e.what() = "
                      "DB::Exception\n"; /* 18.16 */
    a = answer_of(old, 200);
    a.old_server = true;
    CHECK_INT(CHUTE_E_SERVER, find(&a));
    CHECK_INT(395, err.code);
    a.old_server = false; /* a row of a log, on a server that has better ways */
    CHECK_INT(0, find(&a));
}

static void any_bytes(void) {
    static const char *const pieces[] = {"Code: ",
                                         "60",
                                         ". ",
                                         "DB::Exception: ",
                                         "(",
                                         ")",
                                         "\r\n",
                                         "__exception__\r\n",
                                         "tag",
                                         " ",
                                         "\n",
                                         "(version 1)",
                                         "e.what() = DB::Exception",
                                         ", Stack trace",
                                         "\xf0",
                                         "NAME"};
    unsigned long state = 7;
    int fits = 1;
    for (int i = 0; i < 100000; i++) {
        char body[256];
        size_t len = 0;
        for (int n = i % 12; n > 0; n--) {
            state = state * 6364136223846793005UL + 1442695040888963407UL;
            const char *piece = pieces[(state >> 33) % (sizeof pieces / sizeof *pieces)];
            len += (size_t)snprintf(body + len, sizeof body - len, "%s", piece);
        }
        char *exact = malloc(len ? len : 1); /* so that a sanitizer sees one byte too many */
        memcpy(exact, body, len);
        chute_answer a = {.place = "h",
                          .body = exact,
                          .len = len,
                          .tag = i % 2 ? "tag" : "",
                          .status = i % 3 ? 200 : 500,
                          .complete = i % 5,
                          .insert = i % 7 == 0,
                          .old_server = i % 4 == 0};
        find(&a);
        fits = fits && memchr(err.message, 0, sizeof err.message);
        free(exact);
    }
    CHECK(fits);
}

int main(void) {
    texts();
    long_texts();
    success();
    headers();
    statuses();
    strangers();
    in_mid_stream();
    any_bytes();
    return check_report("core/exception");
}
