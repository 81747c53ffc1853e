/* json_paths: the paths of one JSON value, to find those that come twice or go through another. */
#ifndef CHUTE_JSON_PATHS_H
#define CHUTE_JSON_PATHS_H

#include "row.h"
#include "type.h"

typedef struct chute_json_paths chute_json_paths;

/* For values of that JSON type, whose typed paths end there, whatever the value. NULL: out of
 * memory. */
chute_json_paths *chute_json_paths_new(const chute_type *type);
void chute_json_paths_free(chute_json_paths *paths);

/* Checks an object's keys and all those below it: text, no path twice ({"a.b": 1, a: {b: 2}}), none
 * that has a value and more paths behind it ("a" beside "a.b"), none too deep. False: the row was
 * refused. Takes no cells. A server would refuse the whole INSERT, or lose one of the two. */
bool chute_json_paths_check(chute_json_paths *paths, chute_row *row, const chute_cell *object);

#endif
