#include "row.h"

#include "error.h"
#include "number.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A value as a person would write it. */
static void describe(const chute_cell *cell, char *out, size_t capacity) {
    char text[32];
    switch (cell->kind) {
    case CHUTE_CELL_ABSENT: snprintf(out, capacity, "no value"); return;
    case CHUTE_CELL_NULL: snprintf(out, capacity, "NULL"); return;
    case CHUTE_CELL_NUMBER:
        snprintf(out, capacity, "%.*s", (int)chute_format_double(cell->num, text), text);
        return;
    case CHUTE_CELL_INT64: snprintf(out, capacity, "%lld", (long long)cell->i64); return;
    case CHUTE_CELL_UINT64: snprintf(out, capacity, "%llu", (unsigned long long)cell->u64); return;
    case CHUTE_CELL_BOOL: snprintf(out, capacity, cell->u64 ? "true" : "false"); return;
    case CHUTE_CELL_STRING: chute_quote(cell->ptr, cell->len, out, capacity); return;
    case CHUTE_CELL_LIST: snprintf(out, capacity, "a list of %u", cell->len); return;
    case CHUTE_CELL_PAIRS: snprintf(out, capacity, "a table of %u pairs", cell->len); return;
    case CHUTE_CELL_TYPED: snprintf(out, capacity, "a typed value"); return;
    default: snprintf(out, capacity, "%.*s", (int)cell->len, cell->ptr); return;
    }
}

uint8_t *chute_row_refuse(chute_row *row, const chute_cell *cell, const char *reason, ...) {
    describe(cell, row->reason, CHUTE_QUOTE_MAX);
    size_t at = strlen(row->reason);
    va_list args;
    va_start(args, reason);
    vsnprintf(row->reason + at, sizeof row->reason - at, reason, args);
    va_end(args);
    row->depth = 0;
    return NULL;
}

uint8_t *chute_row_step(chute_row *row, struct chute_step step) {
    if (row->depth < CHUTE_PATH_MAX) row->path[row->depth++] = step;
    return NULL;
}

const chute_cell *chute_row_children(chute_row *row, const chute_cell *cell, uint32_t count) {
    if (cell->first < row->next || cell->first > row->used || count > row->used - cell->first) {
        chute_row_refuse(row, cell, " whose cells are not its own");
        return NULL;
    }
    row->next = cell->first + count;
    return row->cells + cell->first;
}

const chute_cell *chute_row_look(const chute_row *row, const chute_cell *cell) {
    uint32_t count = chute_cell_parts(cell);
    if (count == 0 || cell->first > row->used || count > row->used - cell->first) return NULL;
    const chute_cell *child = row->cells + cell->first;
    return child > cell ? child : NULL;
}

static int step_text(const struct chute_step *step, char *out, size_t capacity) {
    char key[CHUTE_QUOTE_MAX];
    switch (step->kind) {
    case CHUTE_STEP_INDEX: return snprintf(out, capacity, "[%u]", step->index);
    case CHUTE_STEP_NAME: return snprintf(out, capacity, ".%s", step->name);
    default: describe(step->key, key, sizeof key); return snprintf(out, capacity, "[%s]", key);
    }
}

void chute_row_path(const chute_row *row, char *out, size_t capacity) {
    size_t at = 0;
    out[0] = '\0';
    for (uint32_t i = row->depth; i-- > 0;) {
        int n = step_text(&row->path[i], out + at, capacity - at);
        if (n < 0 || (size_t)n >= capacity - at) return;
        at += (size_t)n;
    }
}
