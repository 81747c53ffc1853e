/* type_parser: the state of a parse, and the steps its files share. A function that returns int
 * gives 0, or a negative code with the error filled in. */
#ifndef CHUTE_TYPE_PARSER_H
#define CHUTE_TYPE_PARSER_H

#include "error.h"
#include "type_internal.h"
#include "type_lex.h"

struct chute_parser {
    const char *text;
    size_t len;
    struct chute_token token; /* the next one to be read */
    struct chute_type_arena arena;
    unsigned depth;
    chute_error *err;
};

/* Fails naming the place: "at byte N: …". */
int chute_parser_fail(struct chute_parser *p, size_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Fails with "WANTED is wanted, not TOKEN" at the next token. */
int chute_parser_wants(struct chute_parser *p, const char *wanted);
int chute_parser_no_memory(struct chute_parser *p);
void *chute_parser_alloc(struct chute_parser *p, size_t size); /* NULL: the error is filled in */

/* Moves past the next token; fails at the one after it where that is none. */
int chute_parser_advance(struct chute_parser *p);
struct chute_token chute_parser_peek(const struct chute_parser *p); /* the one after the next */
bool chute_parser_at(const struct chute_parser *p, char punct);
bool chute_parser_at_word(const struct chute_parser *p, const char *word); /* case aside */

/* Lists in parentheses: `begin` says 1 where one opens, 0 where none does; `more` says 1 where an
 * item follows, 0 past the closing parenthesis. A comma may follow the last item. */
int chute_parser_begin(struct chute_parser *p);
int chute_parser_more(struct chute_parser *p, bool first);

/* Items. The texts are in the arena, NUL-ended; where `len` is NULL, no NUL may be inside. */
int chute_parser_name(struct chute_parser *p, const char **name);
int chute_parser_string(struct chute_parser *p, const char **string, size_t *len);
/* An integer with an optional sign: its magnitude and whether it is negative. */
int chute_parser_integer(struct chute_parser *p, const char *what, uint64_t *value, bool *negative);
int chute_parser_uint(struct chute_parser *p, const char *what, uint64_t low, uint64_t high,
                      uint32_t *value);
int chute_parser_type(struct chute_parser *p, struct chute_type **type);

/* A growing list of children, with names where they have some. */
struct chute_children {
    struct chute_type **at;
    const char **names;
    size_t count;
    size_t capacity;
};
int chute_children_add(struct chute_parser *p, struct chute_children *list,
                       struct chute_type *child, const char *name);

/* The canonical text of a type, in the arena; NULL: the error is filled in. */
const char *chute_parser_canonical(struct chute_parser *p, const struct chute_type *type);

/* The arguments of a family that `type` is already bound to, from '(' on, where there is one. `at`
 * is where the family's name stands, for errors that concern the whole. */
int chute_parse_leaf(struct chute_parser *p, struct chute_type *type, size_t at);
int chute_parse_enum(struct chute_parser *p, struct chute_type *type, size_t at);
int chute_parse_json(struct chute_parser *p, struct chute_type *type);
int chute_parse_function(struct chute_parser *p, struct chute_type *type, size_t at);

#endif
