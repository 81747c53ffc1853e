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

static uint8_t *fail_at(chute_row *row, uint32_t column) {
    row->column = column;
    return NULL;
}

/* The rare cases of a fused link: any value its fast path does not know. */
static __attribute__((noinline)) uint8_t *run_rare(const struct chute_op *op, chute_row *row,
                                                   uint32_t i, uint8_t *out) {
    out = chute_encoder_put(op->slots + i, row, row->cells + op->first + i, out);
    return out ? out : fail_at(row, op->first + i);
}

static uint8_t *run_any(const struct chute_op *op, chute_row *row, uint8_t *out) {
    const chute_cell *cell = row->cells + op->first;
    for (uint32_t i = 0; i < op->count; i++) {
        out = chute_encoder_put(op->slots + i, row, cell + i, out);
        if (!out) return fail_at(row, op->first + i);
    }
    return out;
}

static uint8_t *run_integers(const struct chute_op *op, chute_row *row, uint8_t *out) {
    const chute_cell *cell = row->cells + op->first;
    const struct chute_slot *slot = op->slots;
    for (uint32_t i = 0; i < op->count; i++, cell++, slot++) {
        if (cell->kind == CHUTE_CELL_NUMBER && cell->num >= slot->low && cell->num <= slot->high) {
            int64_t value = (int64_t)cell->num;
            if ((double)value == cell->num) {
                out = chute_put_int(out, (uint64_t)value, slot->width);
                continue;
            }
        }
        out = run_rare(op, row, i, out);
        if (!out) return NULL;
    }
    return out;
}

static uint8_t *run_floats(const struct chute_op *op, chute_row *row, uint8_t *out) {
    const chute_cell *cell = row->cells + op->first;
    for (uint32_t i = 0; i < op->count; i++, cell++) {
        if (cell->kind == CHUTE_CELL_NUMBER && !isnan(cell->num)) {
            out = chute_put_int(out, cell->u64, sizeof cell->num);
            continue;
        }
        out = run_rare(op, row, i, out);
        if (!out) return NULL;
    }
    return out;
}

static uint8_t *run_strings(const struct chute_op *op, chute_row *row, uint8_t *out) {
    const chute_cell *cell = row->cells + op->first;
    for (uint32_t i = 0; i < op->count; i++, cell++) {
        if (cell->kind == CHUTE_CELL_STRING) {
            out = chute_put_string(out, cell->ptr, cell->len);
            continue;
        }
        out = run_rare(op, row, i, out);
        if (!out) return NULL;
    }
    return out;
}

/* ---- linking ------------------------------------------------------------------------------- */

static void bind_op(struct chute_op *op, enum chute_fuse fuse) {
    switch (fuse) {
    case CHUTE_FUSE_INTEGER: op->run = run_integers, op->name = "integers"; return;
    case CHUTE_FUSE_FLOAT64: op->run = run_floats, op->name = "floats"; return;
    case CHUTE_FUSE_STRING: op->run = run_strings, op->name = "strings"; return;
    default: op->run = run_any, op->name = "values"; return;
    }
}

static void fill_slot(struct chute_slot *slot, const struct chute_column *column) {
    slot->codec = column->codec;
    slot->absent = column->absent;
    slot->absent_len = column->absent_len;
    slot->width = column->codec->width;
    slot->low = column->codec->low;
    slot->high = column->codec->high;
    slot->nullable = column->codec->type->kind == CHUTE_TYPE_NULLABLE;
}

static void measure(chute_encoder *encoder, const struct chute_column *column) {
    uint32_t own = column->codec->bound;
    uint32_t below = chute_codec_child_bound(column->codec);
    encoder->bound += own > column->absent_len ? own : column->absent_len;
    if (below > encoder->child_bound) encoder->child_bound = below;
}

static void link_column(chute_encoder *encoder, uint32_t i) {
    enum chute_fuse fuse = encoder->slots[i].codec->fuse;
    struct chute_op *last = encoder->op_count ? encoder->ops + encoder->op_count - 1 : NULL;
    struct chute_op op = {.slots = encoder->slots + i, .first = i, .count = 1};
    bind_op(&op, fuse);
    if (last && last->run == op.run)
        last->count++;
    else
        encoder->ops[encoder->op_count++] = op;
}

chute_encoder *chute_encoder_new(const struct chute_column *columns, uint32_t count) {
    chute_encoder *encoder = calloc(1, sizeof *encoder);
    if (!encoder) return NULL;
    encoder->slots = calloc(count, sizeof *encoder->slots);
    encoder->ops = calloc(count, sizeof *encoder->ops);
    if (!encoder->slots || !encoder->ops) {
        chute_encoder_free(encoder);
        return NULL;
    }
    encoder->count = count;
    for (uint32_t i = 0; i < count; i++) {
        fill_slot(encoder->slots + i, columns + i);
        measure(encoder, columns + i);
        link_column(encoder, i);
    }
    return encoder;
}

void chute_encoder_free(chute_encoder *encoder) {
    if (!encoder) return;
    free(encoder->slots);
    free(encoder->ops);
    free(encoder);
}

/* ---- running ------------------------------------------------------------------------------- */

size_t chute_encoder_bound(const chute_encoder *encoder, const chute_cells *cells) {
    size_t need = encoder->bound + (size_t)(cells->used - encoder->count) * encoder->child_bound;
    const chute_cell *cell = cells->at, *end = cell + cells->used;
    for (; cell < end; cell++)
        if (cell->kind == CHUTE_CELL_STRING) need += cell->len;
    return need;
}

uint8_t *chute_encoder_run(const chute_encoder *encoder, const chute_cells *cells, chute_row *row,
                           uint8_t *out) {
    row->cells = cells->at;
    row->used = cells->used;
    row->next = encoder->count;
    const struct chute_op *op = encoder->ops, *end = op + encoder->op_count;
    for (; op < end; op++) {
        out = op->run(op, row, out);
        if (!out) return NULL;
    }
    return out;
}
