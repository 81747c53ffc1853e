/* identifier: names quoted for SQL. */
#ifndef CHUTE_IDENTIFIER_H
#define CHUTE_IDENTIFIER_H

#include <stddef.h>

/* Bytes that quoting `len` bytes may take, the NUL included. */
#define CHUTE_IDENTIFIER_ROOM(len) ((len)*4 + 3)

/* Writes `name` in backquotes, what needs it escaped, NUL-ended; the place of the NUL. */
char *chute_identifier_quote(const char *name, size_t len, char *out);

/* Writes the quoted form of "table" or "db.table". A part may already stand in backquotes (with
 * backquotes in it doubled or escaped by a backslash), and then hold dots. `out` has room of
 * CHUTE_IDENTIFIER_ROOM(len) + 8. The place of the NUL, or NULL where it is no such name. */
char *chute_identifier_quote_table(const char *name, size_t len, char *out);

#endif
