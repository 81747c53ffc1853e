/* dynamic: values that say themselves of which type they are, in Dynamic columns and at the paths
 * of JSON:
 *
 *   type in binary │ value        NULL: 00
 */
#ifndef CHUTE_DYNAMIC_H
#define CHUTE_DYNAMIC_H

#include "typed.h"

/* What a JSON inside a list may hold at most: its type says so. */
struct chute_json_limits {
    uint32_t paths, types;
};

struct chute_json;

struct chute_dynamic {
    chute_typed *typed;      /* owned */
    struct chute_json *json; /* borrowed, or NULL: tables of keys and values have no type then, nor
                              * lists of several types; with it they have those a server gives to
                              * JSON text */
};

/* The most bytes that a value makes, or its own cell where it is a list, long text aside: type,
 * NULL flag, length, short text. A typed value claims more. */
enum { CHUTE_DYNAMIC_BOUND = 64 };

/* The caller has reserved CHUTE_DYNAMIC_BOUND bytes. */
uint8_t *chute_dynamic_put(const struct chute_dynamic *dynamic, struct chute_json_limits limits,
                           chute_row *row, const chute_cell *cell, uint8_t *out);

/* An object inside of a list: codec_json has this. */
uint8_t *chute_json_put_object(struct chute_json *json, struct chute_json_limits limits,
                               chute_row *row, const chute_cell *cell, uint8_t *out);

#endif
