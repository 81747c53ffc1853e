#include "infile.h"

#include <string.h>
#include <strings.h>

/* One word, quoted text or sign of SQL; len 0 at the end. */
struct token {
    const char *at;
    size_t len;
};

struct lexer {
    const char *at, *end;
    int depth; /* of brackets */
};

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static const char *past(const struct lexer *lex, const char *what) {
    const char *at = memmem(lex->at, (size_t)(lex->end - lex->at), what, strlen(what));
    return at ? at + strlen(what) : lex->end;
}

static void skip_blanks(struct lexer *lex) {
    while (lex->at < lex->end) {
        size_t left = (size_t)(lex->end - lex->at);
        if (*lex->at == ' ' || (*lex->at >= '\t' && *lex->at <= '\r'))
            lex->at++;
        else if (left >= 2 && memcmp(lex->at, "--", 2) == 0)
            lex->at = past(lex, "\n");
        else if (left >= 2 && memcmp(lex->at, "/*", 2) == 0)
            lex->at = past(lex, "*/");
        else
            return;
    }
}

static void skip_quoted(struct lexer *lex) {
    char quote = *lex->at++;
    for (; lex->at < lex->end; lex->at++) {
        if (*lex->at == '\\' && lex->at + 1 < lex->end)
            lex->at++;
        else if (*lex->at == quote)
            break;
    }
    if (lex->at < lex->end) lex->at++;
}

static struct token next(struct lexer *lex) {
    skip_blanks(lex);
    const char *start = lex->at;
    if (start == lex->end) return (struct token){start, 0};
    if (*start == '\'' || *start == '"' || *start == '`') {
        skip_quoted(lex);
    } else if (is_word(*start)) {
        while (lex->at < lex->end && is_word(*lex->at)) lex->at++;
    } else {
        lex->depth += (*start == '(') - (*start == ')');
        lex->at++;
    }
    return (struct token){start, (size_t)(lex->at - start)};
}

static bool is(struct token token, const char *word) {
    return token.len == strlen(word) && strncasecmp(token.at, word, token.len) == 0;
}

bool chute_infile_is_insert(const char *sql, size_t len) {
    struct lexer lex = {sql, sql + len, 0};
    return is(next(&lex), "INSERT");
}

/* A word after these is a name, whatever it spells. */
static bool names_next(struct token token) {
    return is(token, "INTO") || is(token, "TABLE") || is(token, "FUNCTION") || is(token, ".");
}

/* Past FORMAT's name a reader skips blanks, then one end of line. */
static const char *rows_after(const struct lexer *lex) {
    const char *at = lex->at;
    while (at < lex->end && (*at == ' ' || *at == '\t')) at++;
    if (at < lex->end && *at == '\r') at++;
    if (at < lex->end && *at == '\n') at++;
    return at;
}

bool chute_infile_find(const char *sql, size_t len, struct chute_infile *found) {
    struct lexer lex = {sql, sql + len, 0};
    struct token before = next(&lex), token;
    const char *settings = NULL;
    if (!is(before, "INSERT")) return false;
    for (; (token = next(&lex)).len; before = token) {
        if (lex.depth > 0 || names_next(before)) continue;
        if (is(token, "SELECT") || is(token, "VALUES") || is(token, "INFILE")) return false;
        if (is(token, "SETTINGS") && !settings) settings = token.at;
        if (!is(token, "FORMAT")) continue;
        struct token name = next(&lex);
        if (name.len == 0 || !is_word(*name.at)) return false;
        found->clause_at = (size_t)((settings ? settings : token.at) - sql);
        found->end = (size_t)(name.at + name.len - sql);
        found->data_at = (size_t)(rows_after(&lex) - sql);
        return true;
    }
    return false;
}

bool chute_infile_write(chute_text *out, const char *sql, const struct chute_infile *found,
                        int fd) {
    chute_text_add(out, sql, found->clause_at);
    chute_text_print(out, "FROM INFILE '/proc/self/fd/%d' COMPRESSION 'none' ", fd);
    return chute_text_add(out, sql + found->clause_at, found->end - found->clause_at);
}
