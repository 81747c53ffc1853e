/* type_internal: what the files of the type noun share, and no other file needs. */
#ifndef CHUTE_TYPE_INTERNAL_H
#define CHUTE_TYPE_INTERNAL_H

#include "type.h"

/* ---- arena: everything a parsed type points to, freed at once --------------------------- */

struct chute_type_arena {
    struct chute_type_chunk *chunks;
};

/* Zeroed memory, aligned for any node; NULL when there is none. */
void *chute_type_alloc(struct chute_type_arena *arena, size_t size);
void chute_type_arena_free(struct chute_type_arena *arena);

/* Makes `node` the root: the arena becomes its own. NULL, and the arena freed, without memory. */
struct chute_type *chute_type_root(struct chute_type_arena *arena, const struct chute_type *node);

/* ---- families: the names a type may go by ----------------------------------------------- */

struct chute_type_family {
    const char *name;   /* canonical */
    uint32_t kind;      /* CHUTE_TYPE_… */
    uint32_t width;     /* bytes, as in chute_type */
    uint32_t precision; /* Interval: unit; Decimal32 … 256: digits; else 0 */
};

/* The family of that name or alias, or NULL. */
const struct chute_type_family *chute_type_family_find(const char *name, size_t len);
const struct chute_type_family *chute_type_family_of_kind(uint32_t kind);

/* Whether some name goes on after these words: "DOUBLE", "CHARACTER LARGE". */
bool chute_type_family_continues(const char *words, size_t len);

/* The known name nearest to this one, or NULL where none is near. */
const char *chute_type_family_near(const char *name, size_t len);

/* ---- text: output that counts what did not fit ------------------------------------------ */

struct chute_text {
    char *out;
    size_t capacity;
    size_t len; /* bytes of the whole text, fitting or not */
};

void chute_text_bytes(struct chute_text *text, const char *bytes, size_t len);
void chute_text_put(struct chute_text *text, const char *s);
void chute_text_number(struct chute_text *text, int64_t number);
/* A string literal, or a name in backquotes, as the server escapes them. */
void chute_text_quoted(struct chute_text *text, const char *bytes, size_t len, char quote);
/* A name, in backquotes only where the server uses them. */
void chute_text_name(struct chute_text *text, const char *name);
/* A floating-point literal as the server prints it among a function's parameters. */
void chute_text_double(struct chute_text *text, double value);
void chute_type_write(const struct chute_type *type, struct chute_text *text);

#endif
