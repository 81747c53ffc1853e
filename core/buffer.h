/* buffer: rows as RowBinary, the format's header before them.
 *
 *   data  ├ header ┤├ row ┤├ row ┤├ row ┤ … room … ┤ margin ┤
 *         0        header_len              ▲ + bytes ▲ + ceiling
 *
 * A row is written where the most that it could take fits, which may reach into the margin, and
 * stays if what it took ends before the ceiling.
 *
 * One 64-bit word publishes rows and bytes together, stored last and with release order: whoever
 * reads it (the flusher, a recovery) sees whole rows only. Where the memory is a slot of the spool
 * the word lies there too.
 */
#ifndef CHUTE_BUFFER_H
#define CHUTE_BUFFER_H

#include "chute.h"

#include <stdatomic.h>
#include <stdbool.h>

enum {
    CHUTE_WORD_BYTES_BITS = 40, /* low bits: bytes of rows, up to 1 TiB */
    CHUTE_BUFFER_SLACK = 64,    /* room at the end that short copies may scribble on */
    CHUTE_BUFFER_MARGIN = 1 << 16
};

/* Rows in the high bits of a word: up to 2^24 - 1. */
#define CHUTE_BUFFER_MAX_ROWS ((UINT64_C(1) << 24) - 1)
#define CHUTE_BUFFER_MAX_BYTES ((UINT64_C(1) << CHUTE_WORD_BYTES_BITS) - 1)

/* Ends of rows, some CHUTE_MARK_BYTES apart, for whoever checksums rows while more are added. */
enum { CHUTE_MARK_BYTES = 1 << 16 };
struct chute_marks {
    _Atomic uint32_t count; /* words there are; stored last, with release order */
    uint32_t max;
    uint64_t at[];
};

/* Memory that another owns, zeroed past what was written. */
struct chute_buffer_memory {
    uint8_t *data;   /* the header's room, capacity, and CHUTE_BUFFER_SLACK bytes more */
    size_t capacity; /* bytes after the header */
    _Atomic uint64_t *word;
    struct chute_marks *marks; /* or NULL */
};

struct chute_buffer {
    chute_schema *schema; /* one reference; NULL: takes no rows */
    uint8_t *data;        /* header_len + capacity + CHUTE_BUFFER_SLACK bytes, mapped */
    size_t header_len;
    size_t capacity;        /* bytes after the header that are mapped, but for the slack */
    size_t ceiling;         /* bytes of rows it may hold: capacity grows to this and the margin */
    _Atomic uint64_t *word; /* own_word, or the slot's */
    _Atomic uint64_t own_word;
    size_t next_mark; /* bytes of rows from which on the next mark is due */
    struct chute_marks *marks;
    bool borrowed; /* data is another's */
};

static inline uint64_t chute_word_rows(uint64_t word) {
    return word >> CHUTE_WORD_BYTES_BITS;
}
static inline uint64_t chute_word_bytes(uint64_t word) {
    return word & CHUTE_BUFFER_MAX_BYTES;
}

/* chute_buffer_add, with the number by which errors are to name the row. */
int chute_buffer_add_numbered(chute_buffer *buffer, const chute_cells *cells, uint64_t number,
                              chute_error *err);

/* The streams' kind: all of its memory mapped, and the first `warm` bytes faulted in. */
chute_buffer *chute_buffer_new_warm(chute_schema *schema, size_t ceiling, size_t warm,
                                    chute_error *err);

/* A buffer of at most `ceiling` bytes of rows in memory that has room for these and the margin. */
chute_buffer *chute_buffer_new_in(chute_schema *schema, const struct chute_buffer_memory *memory,
                                  size_t ceiling, chute_error *err);

/* Rows that are there already, to be read only. `data` (malloc'ed, taken) begins with the header;
 * `word` tells of the rows behind it. */
chute_buffer *chute_buffer_new_of(uint8_t *data, size_t header_len, uint64_t word,
                                  chute_error *err);

/* Bytes of rows that a buffer of `ceiling` needs memory for, but for the header and the slack. */
static inline size_t chute_buffer_room(size_t ceiling) {
    return ceiling + CHUTE_BUFFER_MARGIN;
}

/* Gives the memory behind the rows back to the system; it comes again, zeroed, when it is touched.
 * For buffers that may rest for long, not in a slot. */
void chute_buffer_trim(chute_buffer *buffer);

#endif
