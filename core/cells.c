/* cells: the memory of one row's values. */
#include "chute.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ARENA = 64, MAX_CELLS = 1 << 28 };

chute_cells *chute_cells_new(uint32_t columns) {
    if (columns > MAX_CELLS - FIRST_ARENA) return NULL;
    chute_cells *cells = calloc(1, sizeof *cells);
    if (!cells) return NULL;
    cells->capacity = columns + FIRST_ARENA;
    cells->used = columns;
    cells->at = calloc(cells->capacity, sizeof *cells->at);
    if (cells->at) return cells;
    free(cells);
    return NULL;
}

void chute_cells_free(chute_cells *cells) {
    if (!cells) return;
    free(cells->at);
    free(cells);
}

int chute_cells_reserve(chute_cells *cells, uint32_t more) {
    uint64_t need = (uint64_t)cells->used + more;
    if (need <= cells->capacity) return CHUTE_OK;
    if (need > MAX_CELLS) return CHUTE_E_NOMEM;
    uint64_t capacity = cells->capacity;
    while (capacity < need) capacity *= 2;
    chute_cell *at = realloc(cells->at, (size_t)capacity * sizeof *at);
    if (!at) return CHUTE_E_NOMEM;
    memset(at + cells->capacity, 0, (size_t)(capacity - cells->capacity) * sizeof *at);
    cells->at = at;
    cells->capacity = (uint32_t)capacity;
    return CHUTE_OK;
}
