/* about: what a batch file tells of its INSERT: target, format, settings, compression, and the
 * columns' names and types for whoever looks into it. Bytes without padding:
 *
 *   u32 compression │ i32 level │ u32 statement in the body │ target │ format │
 *   u32 settings, then name and value of each │ u32 columns, then name and type of each
 *
 * where a text is a u32 of its bytes and the bytes. */
#ifndef CHUTE_ABOUT_H
#define CHUTE_ABOUT_H

#include "insert.h"

/* The bytes, malloc'ed; NULL: no memory. */
uint8_t *chute_about_write(const chute_insert *insert, const chute_schema *schema, size_t *len);

/* The INSERT that the bytes tell of, one reference. NULL: they tell of none that we know. */
chute_insert *chute_about_read(const uint8_t *bytes, size_t len, chute_error *err);

struct chute_about_text {
    const char *at; /* borrowed from the bytes; no NUL behind it */
    size_t len;
};

/* Name and type of the column; false past the last, or where the bytes are no such. */
bool chute_about_column(const uint8_t *bytes, size_t len, uint32_t index,
                        struct chute_about_text *name, struct chute_about_text *type);

#endif
