/* sql: where an INSERT's rows begin.
 *
 * A lexer of ClickHouse's SQL, just enough to find FORMAT, VALUES and SETTINGS outside of
 * strings, comments and brackets. Everything else about the statement is the engine's business.
 */
#include "chserver.h"

#include <string.h>
#include <strings.h>

enum { TOKEN_END, TOKEN_WORD, TOKEN_QUOTED, TOKEN_OTHER };

struct token {
    int kind;
    size_t start, end;
};

struct lexer {
    const char *text;
    size_t len, at;
    int depth; /* of brackets around the last token read */
};

static bool is_word_byte(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool looking_at(const struct lexer *lex, const char *what) {
    size_t n = strlen(what);
    return lex->len - lex->at >= n && memcmp(lex->text + lex->at, what, n) == 0;
}

static void skip_past(struct lexer *lex, const char *end, size_t end_len) {
    const char *found = memmem(lex->text + lex->at, lex->len - lex->at, end, end_len);
    lex->at = found ? (size_t)(found - lex->text) + end_len : lex->len;
}

static bool skip_comment(struct lexer *lex) {
    if (looking_at(lex, "--") || looking_at(lex, "# ") || looking_at(lex, "#!"))
        skip_past(lex, "\n", 1);
    else if (looking_at(lex, "/*"))
        skip_past(lex, "*/", 2);
    else
        return false;
    return true;
}

static void skip_blanks(struct lexer *lex) {
    while (lex->at < lex->len) {
        char c = lex->text[lex->at];
        if (c == ' ' || (c >= '\t' && c <= '\r'))
            lex->at++;
        else if (!skip_comment(lex))
            return;
    }
}

static void skip_quoted(struct lexer *lex, char quote) {
    for (lex->at++; lex->at < lex->len; lex->at++) {
        char c = lex->text[lex->at];
        if (c == '\\' && lex->at + 1 < lex->len)
            lex->at++;
        else if (c == quote) {
            lex->at++;
            return;
        }
    }
}

/* $tag$ … $tag$: skips it whole, or only the dollar where it is none. */
static void skip_heredoc(struct lexer *lex) {
    size_t end = lex->at + 1;
    while (end < lex->len && is_word_byte(lex->text[end])) end++;
    if (end == lex->len || lex->text[end] != '$') {
        lex->at++;
        return;
    }
    const char *tag = lex->text + lex->at;
    size_t tag_len = end + 1 - lex->at;
    lex->at += tag_len;
    skip_past(lex, tag, tag_len);
}

static int skip_other(struct lexer *lex, char c) {
    if (c == '\'' || c == '"' || c == '`') {
        skip_quoted(lex, c);
        return TOKEN_QUOTED;
    }
    if (c == '$') {
        skip_heredoc(lex);
        return TOKEN_QUOTED;
    }
    lex->depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
    lex->at++;
    return TOKEN_OTHER;
}

static struct token next(struct lexer *lex) {
    skip_blanks(lex);
    struct token token = {TOKEN_END, lex->at, lex->at};
    if (lex->at == lex->len) return token;
    char c = lex->text[lex->at];
    if (is_word_byte(c)) {
        token.kind = TOKEN_WORD;
        while (lex->at < lex->len && is_word_byte(lex->text[lex->at])) lex->at++;
    } else {
        token.kind = skip_other(lex, c);
    }
    token.end = lex->at;
    return token;
}

static struct token peek(const struct lexer *lex) {
    struct lexer copy = *lex;
    return next(&copy);
}

static bool is(const struct lexer *lex, struct token token, const char *word) {
    size_t len = token.end - token.start;
    return token.kind != TOKEN_END && len == strlen(word) &&
           strncasecmp(lex->text + token.start, word, len) == 0;
}

/* After INTO, TABLE, FUNCTION or a dot a word is a name, whatever it spells. */
static bool names_something(const struct lexer *lex, struct token before) {
    return is(lex, before, "INTO") || is(lex, before, "TABLE") || is(lex, before, ".") ||
           is(lex, before, "INSERT") || is(lex, before, "FUNCTION");
}

/* Past the FORMAT's name: blanks, one carriage return, one newline, then rows. */
static size_t start_of_rows(const struct lexer *lex, size_t at) {
    while (at < lex->len &&
           (lex->text[at] == ' ' || lex->text[at] == '\t' || lex->text[at] == '\f'))
        at++;
    if (at < lex->len && lex->text[at] == '\r') at++;
    if (at < lex->len && lex->text[at] == '\n') at++;
    return at;
}

static int take_format(struct lexer *lex, struct token keyword, struct ch_sql *sql,
                       struct ch_error *err) {
    struct token name = next(lex);
    sql->has_data = true;
    sql->format_at = keyword.start;
    sql->format = lex->text + name.start;
    sql->format_len = name.end - name.start;
    sql->data_at = start_of_rows(lex, name.end);
    if (sql->data_at < lex->len && lex->text[sql->data_at] == ';')
        return ch_fail(err, CH_SYNTAX_ERROR, "SYNTAX_ERROR",
                       "You have excessive ';' symbol before data for INSERT");
    return 0;
}

static void take_values(struct token keyword, struct ch_sql *sql) {
    sql->has_data = true;
    sql->format_at = keyword.start;
    sql->format = "Values";
    sql->format_len = strlen("Values");
    sql->data_at = keyword.end;
}

/* SETTINGS name = … */
static bool starts_settings(const struct lexer *lex, struct token token) {
    struct lexer ahead = *lex;
    return is(lex, token, "SETTINGS") && next(&ahead).kind == TOKEN_WORD &&
           is(lex, next(&ahead), "=");
}

/* 1 where rows follow the statement, 0 where it is for the engine as it stands. */
static int scan_insert(struct lexer *lex, struct ch_sql *sql, struct ch_error *err) {
    struct token before = next(lex), token;
    size_t settings_at = 0;
    for (; (token = next(lex)).kind != TOKEN_END && !is(lex, token, ";"); before = token) {
        if (lex->depth > 0 || token.kind != TOKEN_WORD || names_something(lex, before)) continue;
        if (is(lex, token, "SELECT") || is(lex, token, "WITH")) return 0;
        if (is(lex, token, "INFILE"))
            return ch_fail(err, CH_UNKNOWN_TYPE_OF_QUERY, "UNKNOWN_TYPE_OF_QUERY",
                           "Query has infile and was sent directly to the server");
        if (starts_settings(lex, token)) settings_at = token.start;
        bool format = is(lex, token, "FORMAT") && peek(lex).kind == TOKEN_WORD;
        if (!format && !is(lex, token, "VALUES")) continue;
        if (!format) take_values(token, sql);
        if (format && take_format(lex, token, sql, err)) return -1;
        sql->infile_at = settings_at ? settings_at : sql->format_at;
        return 1;
    }
    return 0;
}

static bool ends_statement(const struct lexer *lex, struct token token) {
    return token.kind == TOKEN_END || is(lex, token, ";") || is(lex, token, "SETTINGS") ||
           is(lex, token, "INTO");
}

static void note_format(struct lexer *lex, struct ch_sql *sql) {
    struct lexer ahead = *lex;
    struct token name = next(&ahead);
    if (name.kind != TOKEN_WORD || !ends_statement(lex, peek(&ahead))) return;
    sql->format = lex->text + name.start;
    sql->format_len = name.end - name.start;
}

/* libchdb would read the rows of input() from the process's stdin. */
static int refuse_input(const struct lexer *lex, struct token token, struct ch_error *err) {
    if (!is(lex, token, "input") || !is(lex, peek(lex), "(")) return 0;
    return ch_fail(err, CH_NOT_IMPLEMENTED, "NOT_IMPLEMENTED",
                   "This test server does not read input()");
}

static int scan_plain(struct lexer *lex, struct ch_sql *sql, struct ch_error *err) {
    struct token token;
    while ((token = next(lex)).kind != TOKEN_END) {
        if (refuse_input(lex, token, err)) return -1;
        if (lex->depth > 0) continue;
        if (is(lex, token, "FORMAT")) note_format(lex, sql);
        if (is(lex, token, ";") && peek(lex).kind != TOKEN_END)
            return ch_fail(
                err, CH_SYNTAX_ERROR, "SYNTAX_ERROR",
                "Syntax error (Multi-statements are not allowed): failed at position %zu "
                "(end of query)",
                token.start + 1);
    }
    return 0;
}

int ch_sql_scan(const char *text, size_t len, struct ch_sql *sql, struct ch_error *err) {
    struct lexer lex = {text, len, 0, 0};
    struct token first = peek(&lex);
    *sql = (struct ch_sql){0};
    if (first.kind == TOKEN_END)
        return ch_fail(err, CH_SYNTAX_ERROR, "SYNTAX_ERROR", "Syntax error: Empty query");
    if (is(&lex, first, "INSERT")) {
        int found = scan_insert(&lex, sql, err);
        if (found) return found > 0 ? 0 : -1;
        lex = (struct lexer){text, len, 0, 0};
    }
    return scan_plain(&lex, sql, err);
}
