/* row: one row on its way through the encoder, and where in it something was wrong. */
#ifndef CHUTE_ROW_H
#define CHUTE_ROW_H

#include "chute.h"
#include "wire.h"

struct chute_codec;

enum { CHUTE_PATH_MAX = 8, CHUTE_REASON_MAX = 480 };

/* One step from a value to a part of it. */
struct chute_step {
    enum { CHUTE_STEP_INDEX, CHUTE_STEP_KEY, CHUTE_STEP_NAME } kind;
    uint32_t index;        /* INDEX: from 1, as Lua counts */
    const chute_cell *key; /* KEY: of a map */
    const char *name;      /* NAME: a tuple's element, NUL-ended */
};

typedef struct chute_row {
    const chute_cell *cells; /* columns, then the arena */
    uint32_t used;           /* cells there are */
    uint32_t next;           /* first arena cell that no list has taken: each is taken once */
    size_t room;             /* bytes besides the codecs' bounds that there is still room for */
    bool cramped;            /* of a failure: there was not enough */
    uint32_t column;         /* of a failure */
    uint32_t depth;          /* of a failure: steps there are, the innermost first */
    struct chute_step path[CHUTE_PATH_MAX];
    char reason[CHUTE_REASON_MAX];
} chute_row;

/* How many cells a cell has for children in the arena. Pairs past 2^31 have none: none can be. */
static inline uint32_t chute_cell_parts(const chute_cell *cell) {
    switch (cell->kind) {
    case CHUTE_CELL_LIST: return cell->len;
    case CHUTE_CELL_PAIRS: return cell->len <= UINT32_MAX / 2 ? cell->len * 2 : 0;
    case CHUTE_CELL_TYPED: return 2;
    default: return 0;
    }
}

/* Notes why `cell` cannot be written, and returns NULL for the codec to return. The text of the
 * value is put before the reason: "300 is out of range …" is value and reason " is out of …". */
uint8_t *chute_row_refuse(chute_row *row, const chute_cell *cell, const char *reason, ...)
    __attribute__((format(printf, 3, 4), cold));

/* Adds a step outwards of those noted; returns NULL. */
uint8_t *chute_row_step(chute_row *row, struct chute_step step) __attribute__((cold));

/* The children of a list or of pairs, or NULL where the cell has no such, or its children are
 * not its own (the row was then refused). `count`: cells. */
const chute_cell *chute_row_children(chute_row *row, const chute_cell *cell, uint32_t count);

/* The children of a cell for a look ahead, none taken: NULL where there are none, or they are not
 * past the cell in what there is. */
const chute_cell *chute_row_look(const chute_row *row, const chute_cell *cell);

/* Takes room that no codec's bound holds, before it is written to; false: the row is cramped. */
static inline bool chute_row_claim(chute_row *row, size_t bytes) {
    row->cramped = bytes > row->room;
    if (!row->cramped) row->room -= bytes;
    return !row->cramped;
}

/* Writes a string cell's text, its length before it; or NULL: the row is cramped. Short texts are
 * in the codecs' bounds. */
static inline uint8_t *chute_row_put_text(chute_row *row, const chute_cell *cell, uint8_t *out) {
    if (cell->len > CHUTE_SHORT && !chute_row_claim(row, cell->len)) return NULL;
    return chute_put_string(out, cell->ptr, cell->len);
}

/* Writes the failure's path, as ["k"][3], NUL-ended. */
void chute_row_path(const chute_row *row, char *out, size_t capacity);

#endif
