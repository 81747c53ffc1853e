/* type_lex: the tokens of a type's text. Pure functions over a text and a place in it, so that
 * looking ahead is lexing again. */
#ifndef CHUTE_TYPE_LEX_H
#define CHUTE_TYPE_LEX_H

#include "type_internal.h"

enum {
    CHUTE_TOKEN_BAD = 0, /* no token starts here: `problem` says why */
    CHUTE_TOKEN_END,
    CHUTE_TOKEN_WORD,   /* a bare identifier */
    CHUTE_TOKEN_QUOTED, /* an identifier in backquotes or double quotes */
    CHUTE_TOKEN_STRING, /* a literal in single quotes */
    CHUTE_TOKEN_NUMBER, /* digits, in any form a number starts with; no sign */
    CHUTE_TOKEN_PUNCT   /* one other byte */
};

struct chute_token {
    int kind;
    size_t start; /* bytes from the start of the text */
    size_t end;
    const char *problem;
};

/* The token at or after `at`, past blanks and comments. */
struct chute_token chute_token_at(const char *text, size_t len, size_t at);

/* Decodes a QUOTED or STRING token of `text`: the bytes between the quotes, escapes resolved as
 * the server does, NUL-ended, in the arena. NULL: no memory. */
char *chute_token_decode(const char *text, struct chute_token token, struct chute_type_arena *arena,
                         size_t *len);

/* Reads a NUMBER token as an integer (decimal, 0x, 0b, single underscores between digits). False
 * where it is none or does not fit. */
bool chute_token_integer(const char *text, struct chute_token token, uint64_t *value);

#endif
