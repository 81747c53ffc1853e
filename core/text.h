/* text: bytes that grow, up to a limit. NUL-ended whenever there are any. A failed append is
 * remembered, so that only the last of many has to be looked at. */
#ifndef CHUTE_TEXT_H
#define CHUTE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct chute_text {
    char *at;
    size_t len, capacity;
    size_t limit; /* bytes it may hold; 0: any number */
    bool failed;  /* no memory, or over the limit */
} chute_text;

bool chute_text_add(chute_text *text, const char *bytes, size_t len);
bool chute_text_print(chute_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Appends NUL-ended text percent-encoded. */
bool chute_text_escape(chute_text *text, const char *bytes, size_t len);
/* Appends as a quoted SQL literal or identifier, `quote` being ' or `. */
bool chute_text_quote(chute_text *text, char quote, const char *bytes);
/* Forgets the bytes and the failure; keeps the memory. */
void chute_text_reset(chute_text *text);
void chute_text_clear(chute_text *text);

#endif
