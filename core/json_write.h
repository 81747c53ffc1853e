/* json_write: cells as JSON text. */
#ifndef CHUTE_JSON_WRITE_H
#define CHUTE_JSON_WRITE_H

#include "row.h"

/* Writes the value of a cell and what is below it, whose cells `row` takes, claiming all the room.
 * Whole numbers within ±2^53 and 64-bit ones are integers, others have a point or an exponent; a
 * typed value loses its type. The place after it; NULL: refused (bytes that are no UTF-8, numbers
 * that JSON has not), or cramped. Keys are checked already: see json_paths. */
uint8_t *chute_json_write(chute_row *row, const chute_cell *cell, uint8_t *out);

#endif
