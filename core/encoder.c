#include "encoder.h"

#include "schema.h"
#include "wire.h"

#include <math.h>
#include <stdlib.h>

/* ---- links --------------------------------------------------------------------------------- */

uint8_t *chute_encoder_put(const struct chute_slot *slot, chute_row *row, const chute_cell *cell,
                           uint8_t *out) {
    if (cell->kind > CHUTE_CELL_NULL || (cell->kind == CHUTE_CELL_NULL && slot->nullable))
        return slot->codec->put(slot->codec, row, cell, out);
    if (slot->absent) return chute_put_bytes(out, slot->absent, slot->absent_len);
    return chute_row_refuse(row, cell, ", and the column has neither a default nor NULL");
}

static inline uint8_t *next(const struct chute_slot *slot, const chute_cell *cell, chute_row *row,
                            uint8_t *out) {
    return slot[1].run(slot + 1, cell + 1, row, out);
}

/* Any value of any column: where the links below end up with what they do not know. None of them
 * calls it but as its last act, so that their fast ways save no registers. */
static __attribute__((noinline)) uint8_t *
link_any(const struct chute_slot *slot, const chute_cell *cell, chute_row *row, uint8_t *out) {
    out = chute_encoder_put(slot, row, cell, out);
    if (out) return next(slot, cell, row, out);
    row->column = (uint32_t)(cell - row->cells);
    return NULL;
}

static inline bool is_brief(const struct chute_slot *slot, const chute_cell *cell) {
    return cell->kind == CHUTE_CELL_ABSENT && slot->brief_len > 0;
}

static inline uint8_t *put_brief(const struct chute_slot *slot, uint8_t *out) {
    return chute_put_int(out, slot->brief, slot->brief_len);
}

static uint8_t *link_values(const struct chute_slot *slot, const chute_cell *cell, chute_row *row,
                            uint8_t *out) {
    for (;; slot++, cell++) {
        if (!is_brief(slot, cell)) return link_any(slot, cell, row, out);
        out = put_brief(slot, out);
        if (!slot->fused) return next(slot, cell, row, out);
    }
}

static inline bool is_integer(const struct chute_slot *slot, const chute_cell *cell) {
    return cell->kind == CHUTE_CELL_NUMBER && cell->num >= slot->low && cell->num <= slot->high &&
           (double)(int64_t)cell->num == cell->num;
}

static uint8_t *link_integers(const struct chute_slot *slot, const chute_cell *cell, chute_row *row,
                              uint8_t *out) {
    for (;; slot++, cell++) {
        if (is_integer(slot, cell))
            out = chute_put_int(out, (uint64_t)(int64_t)cell->num, slot->width);
        else if (cell->kind == CHUTE_CELL_UINT64 && cell->u64 <= slot->max)
            out = chute_put_int(out, cell->u64, slot->width);
        else if (is_brief(slot, cell))
            out = put_brief(slot, out);
        else
            return link_any(slot, cell, row, out);
        if (!slot->fused) return next(slot, cell, row, out);
    }
}

static uint8_t *link_floats(const struct chute_slot *slot, const chute_cell *cell, chute_row *row,
                            uint8_t *out) {
    for (;; slot++, cell++) {
        if (cell->kind == CHUTE_CELL_NUMBER && !isnan(cell->num))
            out = chute_put_int(out, cell->u64, sizeof cell->num);
        else if (is_brief(slot, cell))
            out = put_brief(slot, out);
        else
            return link_any(slot, cell, row, out);
        if (!slot->fused) return next(slot, cell, row, out);
    }
}

static uint8_t *link_strings(const struct chute_slot *slot, const chute_cell *cell, chute_row *row,
                             uint8_t *out) {
    for (;; slot++, cell++) {
        if (cell->kind == CHUTE_CELL_STRING && chute_is_short(cell->ptr, cell->len)) {
            *out++ = (uint8_t)cell->len;
            chute_copy_short(out, cell->ptr, cell->len);
            out += cell->len;
        } else if (is_brief(slot, cell)) {
            out = put_brief(slot, out);
        } else {
            return link_any(slot, cell, row, out);
        }
        if (!slot->fused) return next(slot, cell, row, out);
    }
}

static uint8_t *link_fixed(const struct chute_slot *slot, const chute_cell *cell, chute_row *row,
                           uint8_t *out) {
    for (;; slot++, cell++) {
        if (cell->kind == CHUTE_CELL_STRING && cell->len <= slot->width &&
            slot->width <= CHUTE_SHORT && chute_is_short(cell->ptr, cell->len)) {
            chute_copy_short(out, cell->ptr, cell->len);
            memset(out + cell->len, 0, CHUTE_SHORT);
            out += slot->width;
        } else if (is_brief(slot, cell)) {
            out = put_brief(slot, out);
        } else {
            return link_any(slot, cell, row, out);
        }
        if (!slot->fused) return next(slot, cell, row, out);
    }
}

/* RowBinaryWithDefaults: 00 and a value. Absent bytes begin with a flag of their own. */
static uint8_t *link_flagged(const struct chute_slot *slot, const chute_cell *cell, chute_row *row,
                             uint8_t *out) {
    bool value = cell->kind > CHUTE_CELL_NULL || (cell->kind == CHUTE_CELL_NULL && slot->nullable);
    if (value) *out++ = 0;
    return link_any(slot, cell, row, out);
}

static uint8_t *link_end(const struct chute_slot *slot, const chute_cell *cell, chute_row *row,
                         uint8_t *out) {
    (void)slot, (void)cell, (void)row;
    return out;
}

/* ---- linking ------------------------------------------------------------------------------- */

static const struct {
    chute_link run;
    const char *name;
} LINKS[] = {
    [CHUTE_FUSE_NONE] = {link_values, "values"},
    [CHUTE_FUSE_INTEGER] = {link_integers, "integers"},
    [CHUTE_FUSE_FLOAT64] = {link_floats, "floats"},
    [CHUTE_FUSE_STRING] = {link_strings, "strings"},
    [CHUTE_FUSE_FIXED] = {link_fixed, "fixed"},
};

const char *chute_encoder_link_name(const struct chute_slot *slot) {
    if (slot->run == link_flagged) return "flagged";
    return LINKS[slot->codec->fuse].name;
}

static void fill_slot(struct chute_slot *slot, const struct chute_column *column) {
    const chute_codec *codec = column->codec;
    slot->run = LINKS[codec->fuse].run;
    slot->codec = codec;
    slot->absent = column->absent;
    slot->absent_len = column->absent_len;
    slot->width = codec->width;
    slot->low = codec->low;
    slot->high = codec->high;
    slot->max = codec->max;
    slot->nullable = codec->takes_null;
    if (!slot->absent || slot->absent_len > sizeof slot->brief) return;
    memcpy(&slot->brief, slot->absent, slot->absent_len);
    slot->brief_len = slot->absent_len;
}

static void measure(chute_encoder *encoder, const struct chute_column *column) {
    uint32_t own = column->codec->bound;
    uint32_t below = chute_codec_child_bound(column->codec);
    encoder->bound += 1 + (own > column->absent_len ? own : column->absent_len);
    if (below > encoder->child_bound) encoder->child_bound = below;
}

chute_encoder *chute_encoder_new(const struct chute_column *columns, uint32_t count, bool flagged) {
    chute_encoder *encoder = calloc(1, sizeof *encoder);
    if (!encoder) return NULL;
    encoder->slots = calloc((size_t)count + 1, sizeof *encoder->slots);
    if (!encoder->slots) {
        chute_encoder_free(encoder);
        return NULL;
    }
    encoder->count = count;
    encoder->slots[count].run = link_end;
    for (uint32_t i = count; i-- > 0;) {
        struct chute_slot *slot = encoder->slots + i;
        fill_slot(slot, columns + i);
        if (flagged) slot->run = link_flagged;
        slot->fused = slot->run == slot[1].run;
        measure(encoder, columns + i);
    }
    return encoder;
}

void chute_encoder_free(chute_encoder *encoder) {
    if (!encoder) return;
    free(encoder->slots);
    free(encoder);
}

/* ---- running ------------------------------------------------------------------------------- */

/* What must fit whatever the row's long texts are. */
static size_t least(const chute_encoder *encoder, const chute_cells *cells) {
    return encoder->bound + (size_t)(cells->used - encoder->count) * encoder->child_bound;
}

size_t chute_encoder_bound(const chute_encoder *encoder, const chute_cells *cells) {
    size_t need = least(encoder, cells);
    const chute_cell *cell = cells->at, *end = cell + cells->used;
    for (; cell < end; cell++)
        if (cell->kind == CHUTE_CELL_STRING) need += cell->len;
    return need;
}

uint8_t *chute_encoder_run(const chute_encoder *encoder, const chute_cells *cells, chute_row *row,
                           uint8_t *out, size_t room) {
    size_t needed = least(encoder, cells);
    row->cells = cells->at;
    row->used = cells->used;
    row->next = encoder->count;
    row->depth = 0;
    row->cramped = room < needed;
    if (row->cramped) return NULL;
    row->room = room - needed;
    return encoder->slots->run(encoder->slots, cells->at, row, out);
}
