/* type: a parsed ClickHouse type.
 *
 * A tree of nodes, all of them in one arena that the root owns: chute_type_free frees the whole.
 * Nothing in a parsed type ever changes, so it may be read by any number of threads.
 *
 * Source of the grammar: ClickHouse's docs (sql-reference/data-types) and what a server prints
 * in system.columns.type, which is what chute_type_print writes ("canonical").
 *
 * Children, by family:
 *   Nullable, LowCardinality, Array         one
 *   Map                                     key, value
 *   Tuple                                   the elements; `names` where they are named
 *   Nested                                  the columns, always named
 *   Variant                                 the alternatives in discriminator order: sorted by
 *                                           canonical text, without duplicates
 *   JSON                                    the typed paths, sorted by name
 *   QBit                                    the element
 *   SimpleAggregateFunction                 one: the type stored
 *   AggregateFunction                       the function's arguments (the state is opaque)
 *   Point                                   two Float64
 *   Ring, LineString, Polygon, Multi…       one: what the array holds (Point, Ring, …)
 *   Geometry                                its six alternatives in discriminator order
 */
#ifndef CHUTE_TYPE_H
#define CHUTE_TYPE_H

#include "chute.h"

#include <stdbool.h>

/* Bounds of a type's text. */
enum { CHUTE_TYPE_DEPTH_MAX = 100, CHUTE_TYPE_TEXT_MAX = 1 << 20 };

/* One word of an Enum: the name (decoded bytes, not NUL-safe) and its number. */
struct chute_enum_value {
    const char *name;
    size_t name_len;
    int16_t number;
};

struct chute_type {
    uint32_t kind;      /* CHUTE_TYPE_… */
    uint32_t width;     /* bytes of the value in RowBinary where a leaf has a fixed width, else 0 */
    uint32_t precision; /* Decimal: digits; DateTime64, Time64: digits of a second;
                         * Interval: unit, 0 nanosecond … 10 year (its binary tag);
                         * QBit: elements; Dynamic: max_types; JSON: max_dynamic_paths */
    uint32_t scale;     /* Decimal: digits after the point; JSON: max_dynamic_types */
    const char *name;   /* the family's canonical name, "UInt8", "Decimal", NUL-ended, static */
    const char *zone;   /* DateTime, DateTime64: NUL-ended zone name, or NULL for the server's */
    size_t count;       /* children */
    struct chute_type **children;
    const char **names; /* Tuple, Nested, JSON typed paths: NUL-ended, or NULL where unnamed */
    size_t enum_count;
    struct chute_enum_value *enum_values; /* by ascending number; the first is the default */
    const char *args; /* canonical text or NULL: (Simple)AggregateFunction: the function with its
                       * parameters; JSON: its SKIP clauses */
    const char **skip_paths;    /* JSON: SKIP, sorted, NUL-ended */
    const char **skip_patterns; /* JSON: SKIP REGEXP, likewise */
    size_t skip_path_count;
    size_t skip_pattern_count;
};

#endif
