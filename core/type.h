/* type: a parsed ClickHouse type.
 *
 * A tree of nodes, all of them in one arena that the root owns: chute_type_free frees the whole.
 * Nothing in a parsed type ever changes, so it may be read by any number of threads.
 *
 * Source of the grammar: ClickHouse's docs (sql-reference/data-types) and what a server prints
 * in system.columns.type, which is what chute_type_print writes ("canonical").
 */
#ifndef CHUTE_TYPE_H
#define CHUTE_TYPE_H

#include "chute.h"

#include <stdbool.h>

/* One word of an Enum: the name (decoded bytes, not NUL-safe) and its number. */
struct chute_enum_value {
    const char *name;
    size_t name_len;
    int16_t number;
};

struct chute_type {
    uint32_t kind;  /* CHUTE_TYPE_… */
    uint32_t width; /* bytes of the value in RowBinary where that is fixed, else 0 */
    uint32_t
        precision;    /* Decimal: digits; DateTime64, Time64: digits of a second; Interval: unit */
    uint32_t scale;   /* Decimal: digits after the point */
    const char *name; /* the family's canonical name, "UInt8", "Decimal", NUL-ended, static */
    const char *zone; /* DateTime, DateTime64: NUL-ended zone name, or NULL for the server's */
    size_t count;     /* children of Array, Map, Tuple, Nullable, LowCardinality, Variant … */
    struct chute_type **children;
    const char **names; /* Tuple, Nested, JSON typed paths: NUL-ended, or NULL where unnamed */
    size_t enum_count;
    struct chute_enum_value *enum_values; /* in the order of the text */
    const char
        *args; /* families no encoder looks into yet: the arguments' canonical text, or NULL */
};

#endif
