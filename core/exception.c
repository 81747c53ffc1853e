#include "exception.h"

#include "error.h"

#include <stdio.h>
#include <string.h>

/* A piece of text; `at` NULL is none. */
struct span {
    const char *at;
    size_t len;
};

enum { TAIL = 64 * 1024, TAG_MAX = 64 };

static struct span span_after(struct span in, size_t from) {
    return (struct span){in.at + from, in.len - from};
}

static bool starts(struct span text, const char *with) {
    size_t len = strlen(with);
    return text.len >= len && memcmp(text.at, with, len) == 0;
}

static bool ends(struct span text, const char *with) {
    size_t len = strlen(with);
    return text.len >= len && memcmp(text.at + text.len - len, with, len) == 0;
}

/* Offset of the first `what`, or SIZE_MAX. */
static size_t find(struct span text, const char *what) {
    const char *at = text.len ? memmem(text.at, text.len, what, strlen(what)) : NULL;
    return at ? (size_t)(at - text.at) : SIZE_MAX;
}

static size_t find_last(struct span text, const char *what) {
    size_t found = SIZE_MAX;
    for (size_t at = 0;;) {
        size_t next = find(span_after(text, at), what);
        if (next == SIZE_MAX) return found;
        found = at + next;
        at = found + 1;
    }
}

static bool is_blank(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static struct span trimmed(struct span text) {
    while (text.len && is_blank(text.at[text.len - 1])) text.len--;
    while (text.len && is_blank(text.at[0])) text = span_after(text, 1);
    return text;
}

/* ---- what a code means -------------------------------------------------------------------- */

static bool is_among(int32_t code, const int16_t *codes, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (codes[i] == code) return true;
    return false;
}
#define AMONG(code, list) is_among(code, list, sizeof list / sizeof *list)

/* What passes by itself: timeouts, load, replicas and keepers away, too many parts. */
static const int16_t passing[] = {3,   107, 159, 164, 198, 202, 203, 209, 210, 236, 241,
                                  242, 243, 252, 279, 285, 286, 319, 425, 439, 745, 999};

/* What is refused before anything is written: syntax, names, types, rights, limits on entry, and
 * rows that cannot be read (a batch is one block, so none of it was written). */
static const int16_t before_writing[] = {
    6,   8,   10,  15,  16,  20,  26,  27,  33,  38,  40,  41,  42,  46,  47,  50,  53,  57,
    60,  62,  63,  69,  70,  72,  73,  78,  81,  89,  115, 117, 130, 131, 164, 192, 193, 194,
    195, 201, 202, 216, 271, 354, 372, 373, 441, 456, 457, 497, 516, 561, 617, 691};

/* 252 is too many parts ("in all partitions in total", too), which merges mend, and too many
 * partitions in one block, which nothing does; 164 is a table that is read-only for now, and a user
 * who may only read. */
static bool is_lasting(int32_t code, struct span text) {
    if (code == 252) return find(text, "partitions for single INSERT") != SIZE_MAX;
    return code == 164 &&
           (find(text, "Cannot execute") != SIZE_MAX || find(text, "Cannot modify") != SIZE_MAX);
}

static uint32_t flags_of(int32_t code, struct span text) {
    uint32_t flags = AMONG(code, passing) && !is_lasting(code, text) ? CHUTE_RETRYABLE : 0;
    bool nothing_written =
        AMONG(code, before_writing) && find(text, "while pushing to view") == SIZE_MAX;
    return nothing_written ? flags : flags | CHUTE_UNCERTAIN;
}

static uint32_t flags_of_status(int32_t status) {
    switch (status) {
    case 425:
    case 429:
    case 503: return CHUTE_RETRYABLE;
    case 408:
    case 502:
    case 504: return CHUTE_RETRYABLE | CHUTE_UNCERTAIN;
    default: return status >= 400 && status < 500 ? 0 : CHUTE_UNCERTAIN;
    }
}

/* ---- the text of an exception ------------------------------------------------------------- */

/* The number after "Code: ", and what follows it. */
static int32_t take_code(struct span *text) {
    if (!starts(*text, "Code: ")) return 0;
    struct span rest = span_after(*text, strlen("Code: "));
    int32_t code = 0;
    size_t digits = 0;
    for (; digits < rest.len && digits < 6; digits++) {
        char c = rest.at[digits];
        if (c < '0' || c > '9') break;
        code = code * 10 + (c - '0');
    }
    if (digits == 0) return 0;
    *text = span_after(rest, digits);
    return code;
}

static void skip(struct span *text, const char *what) {
    if (starts(*text, what)) *text = span_after(*text, strlen(what));
}

/* What stands before the text proper; the code that it names, or 0. */
static int32_t take_lead(struct span *text) {
    int32_t code = take_code(text);
    skip(text, ". ");
    skip(text, ", e.displayText() = ");
    skip(text, "DB::Exception: ");
    return code;
}

static bool is_name(struct span name) {
    if (name.len < 2 || name.len >= sizeof((chute_error *)0)->name) return false;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.at[i];
        if (!((c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_')) return false;
    }
    return true;
}

/* Takes what stands in brackets at the end, "(…)", off the text; at NULL where nothing does. */
static struct span take_brackets(struct span *text) {
    struct span whole = trimmed(*text);
    if (!ends(whole, ")")) return (struct span){0};
    int depth = 0;
    for (size_t at = whole.len; at-- > 0;) {
        depth += (whole.at[at] == ')') - (whole.at[at] == '(');
        if (depth != 0) continue;
        struct span inside = {whole.at + at + 1, whole.len - at - 2};
        *text = trimmed((struct span){whole.at, at});
        return inside;
    }
    return (struct span){0};
}

/* Cuts "(NAME) (version …)" off the end and returns the name; at NULL where there is none. */
static struct span take_name(struct span *text) {
    struct span rest = *text;
    if (ends(rest, ").")) rest.len--; /* the inner of two */
    struct span last = take_brackets(&rest);
    if (last.at && starts(last, "version ")) {
        *text = rest;
        last = take_brackets(&rest);
    }
    if (!last.at || !is_name(last)) return (struct span){0};
    *text = rest;
    return last;
}

/* Cuts what is for the server's own developers. */
static void cut_details(struct span *text) {
    static const char *const marks[] = {", e.what() = DB::", ", Stack trace",
                                        "\nStack trace:", ", e.what() = "};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        size_t at = find(*text, marks[i]);
        if (at != SIZE_MAX) text->len = at;
    }
    *text = trimmed(*text);
}

/* Length of a whole UTF-8 sequence at `s`, or 0. */
static size_t sequence(const unsigned char *s, size_t left) {
    size_t n = s[0] < 0x80 ? 1 : s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : s[0] >= 0xC2 ? 2 : 0;
    if (n == 0 || n > left || s[0] > 0xF4) return 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xC0) != 0x80) return 0;
    return n;
}

/* Appends text to the message as one printable line, cut to fit. */
static void append_line(char *message, size_t capacity, struct span text) {
    size_t out = strlen(message);
    for (size_t in = 0; in < text.len;) {
        const unsigned char *s = (const unsigned char *)text.at + in;
        size_t n = sequence(s, text.len - in);
        bool blank = n == 1 && is_blank((char)*s),
             odd = n == 0 || (n == 1 && (*s < 32 || *s == 127));
        if (out + (n ? n : 1) + sizeof "…" > capacity) {
            memcpy(message + out, "…", sizeof "…");
            return;
        }
        in += n ? n : 1;
        if (blank && out && message[out - 1] == ' ') continue;
        if (blank || odd)
            message[out++] = blank ? ' ' : '?';
        else
            memcpy(message + out, s, n);
        out += blank || odd ? 0 : n;
    }
    message[out] = '\0';
}

static void set_host(chute_error *err, const char *place) {
    snprintf(err->host, sizeof err->host, "%s", place);
}

/* "NAME (code 60) from host:port: text" */
static void describe(chute_error *err, struct span text) {
    size_t at = 0;
    if (err->name[0])
        at += (size_t)snprintf(err->message, 80, "%s (code %d)", err->name, err->code);
    else
        at += (size_t)snprintf(err->message, 80, "code %d", err->code);
    snprintf(err->message + at, sizeof err->message - at, " from %s: ", err->host);
    append_line(err->message, sizeof err->message, text);
}

int chute_exception_read(const char *text, size_t len, int32_t code, const char *place,
                         chute_error *err) {
    chute_error unwanted;
    struct span rest = trimmed((struct span){text, len < TAIL ? len : TAIL});
    if (!err) err = &unwanted;
    chute_fail(err, CHUTE_E_SERVER, "%s", "");
    set_host(err, place);
    int32_t written = take_lead(&rest);
    err->code = written ? written : code;
    while (take_lead(&rest) > 0) {
    } /* one inside the other */
    cut_details(&rest);
    struct span name = take_name(&rest);
    if (name.at) take_name(&rest); /* again, of the inner one */
    if (name.at) snprintf(err->name, sizeof err->name, "%.*s", (int)name.len, name.at);
    err->flags = flags_of(err->code, rest);
    describe(err, rest);
    return CHUTE_E_SERVER;
}

/* ---- exceptions in the middle of a body --------------------------------------------------- */

static const char marker[] = "__exception__\r\n";

/* From 25.11: "\r\n__exception__\r\nTAG\r\n<text>\n<length> TAG\r\n__exception__\r\n" at the end.
 */
static struct span tagged(struct span body, const char *tag) {
    char head[TAG_MAX + 40];
    if (!*tag || strlen(tag) > TAG_MAX) return (struct span){0};
    snprintf(head, sizeof head, "\r\n%s%s\r\n", marker, tag);
    size_t at = find_last(body, head);
    if (at == SIZE_MAX) return (struct span){0};
    struct span text = span_after(body, at + strlen(head));
    snprintf(head, sizeof head, " %s\r\n%s", tag, marker);
    size_t end = find_last(text, head);
    if (end == SIZE_MAX) return text;
    text.len = end;
    while (text.len && text.at[text.len - 1] != '\n') text.len--;
    return text;
}

/* Up to 25.10, which give no tag: "__exception__\r\n<text>", and the connection broken off. */
static struct span marked(struct span body) {
    size_t at = find_last(body, marker);
    if (at == SIZE_MAX) return (struct span){0};
    struct span text = span_after(body, at + strlen(marker));
    return starts(text, "Code: ") ? text : (struct span){0};
}

/* Old servers: the bare text after the rows. */
static struct span bare(struct span body) {
    struct span text = trimmed(body);
    if (!ends(text, "e.what() = DB::Exception")) return (struct span){0};
    size_t at = find_last(text, "Code: ");
    return at == SIZE_MAX ? (struct span){0} : span_after(text, at);
}

static struct span find_in_body(const chute_answer *a) {
    struct span body = {a->body, a->len};
    if (body.len > TAIL) body = span_after(body, body.len - TAIL);
    struct span found = *a->tag ? tagged(body, a->tag) : marked(body);
    if (!found.at && a->old_server) found = bare(body);
    return found;
}

/* ---- whole answers ------------------------------------------------------------------------ */

static int refuse(const chute_answer *a, chute_error *err, int kind, uint32_t flags,
                  const char *what) {
    char shown[CHUTE_QUOTE_MAX] = "an empty answer";
    struct span body = trimmed((struct span){a->body, a->len});
    if (body.len) chute_quote(body.at, body.len, shown, sizeof shown);
    chute_fail(err, kind, "%s from %s: %s", what, a->place, shown);
    if (!err) return kind;
    set_host(err, a->place);
    err->status = a->status;
    err->flags = flags;
    return kind;
}

static int read_exception(const chute_answer *a, struct span text, chute_error *err) {
    chute_exception_read(text.at, text.len, a->code, a->place, err);
    if (err) err->status = a->status;
    return CHUTE_E_SERVER;
}

static int judge_status(const chute_answer *a, chute_error *err) {
    char what[64];
    struct span body = trimmed((struct span){a->body, a->len});
    if (a->code || starts(body, "Code: ")) return read_exception(a, body, err);
    snprintf(what, sizeof what, "HTTP status %d", a->status);
    if (a->status == 400 && body.len == 0)
        snprintf(what, sizeof what, "HTTP status 400 (is the URL too long?)");
    return refuse(a, err, CHUTE_E_SERVER, flags_of_status(a->status), what);
}

int chute_exception_find(const chute_answer *a, chute_error *err) {
    if (a->status != 200 || a->code) return judge_status(a, err);
    struct span exception = find_in_body(a);
    if (exception.at) return read_exception(a, exception, err);
    const uint32_t open = CHUTE_RETRYABLE | CHUTE_UNCERTAIN;
    if (!a->complete) return refuse(a, err, CHUTE_E_NETWORK, open, "a broken answer");
    if (!a->insert) return 0;
    struct span body = trimmed((struct span){a->body, a->len});
    if (starts(body, "Code: ")) return read_exception(a, body, err);
    if (body.len)
        return refuse(a, err, CHUTE_E_NETWORK, open, "not ClickHouse's answer to an insert");
    if (!a->from_clickhouse)
        return refuse(a, err, CHUTE_E_NETWORK, open, "no ClickHouse header in the answer");
    return 0;
}
