/* infile: an INSERT that reads its rows from a file, made of one that expects them inline. */
#ifndef CHUTE_INFILE_H
#define CHUTE_INFILE_H

#include "text.h"

/* Where in an INSERT's text the clauses about its rows stand. */
struct chute_infile {
    size_t clause_at; /* where FROM INFILE goes: before SETTINGS or FORMAT */
    size_t end;       /* of the statement */
    size_t data_at;   /* where rows would begin: `len` where none stand there */
};

/* Whether the first word is INSERT, comments left aside. */
bool chute_infile_is_insert(const char *sql, size_t len);

/* True: the text is "INSERT … FORMAT name", with or without rows behind it. */
bool chute_infile_find(const char *sql, size_t len, struct chute_infile *found);

/* Writes the statement with the rows to come from descriptor `fd` of this process. */
bool chute_infile_write(chute_text *out, const char *sql, const struct chute_infile *found, int fd);

#endif
