#include "type_internal.h"

#include <string.h>
#include <strings.h>

enum { NAME_MAX_BYTES = 40 };

#define LEAF(name, kind, width)                                                                    \
    { name, CHUTE_TYPE_##kind, width, 0 }
#define INTERVAL(unit, tag)                                                                        \
    { "Interval" unit, CHUTE_TYPE_INTERVAL, 8, tag }
#define DECIMAL(name, digits)                                                                      \
    { name, CHUTE_TYPE_DECIMAL, 0, digits }

/* Names whose case matters. DateTime32 and Decimal32 … are families of their own in a server's
 * list; here they are spellings that print as DateTime and Decimal. */
static const struct chute_type_family families[] = {
    LEAF("Nothing", NOTHING, 0),
    LEAF("UInt8", UINT8, 1),
    LEAF("UInt16", UINT16, 2),
    LEAF("UInt32", UINT32, 4),
    LEAF("UInt64", UINT64, 8),
    LEAF("UInt128", UINT128, 16),
    LEAF("UInt256", UINT256, 32),
    LEAF("Int8", INT8, 1),
    LEAF("Int16", INT16, 2),
    LEAF("Int32", INT32, 4),
    LEAF("Int64", INT64, 8),
    LEAF("Int128", INT128, 16),
    LEAF("Int256", INT256, 32),
    LEAF("BFloat16", BFLOAT16, 2),
    LEAF("Float32", FLOAT32, 4),
    LEAF("Float64", FLOAT64, 8),
    LEAF("String", STRING, 0),
    LEAF("FixedString", FIXED_STRING, 0),
    LEAF("UUID", UUID, 16),
    LEAF("IPv4", IPV4, 4),
    LEAF("IPv6", IPV6, 16),
    LEAF("Nullable", NULLABLE, 0),
    LEAF("LowCardinality", LOW_CARDINALITY, 0),
    LEAF("Array", ARRAY, 0),
    LEAF("Map", MAP, 0),
    LEAF("Tuple", TUPLE, 0),
    LEAF("Nested", NESTED, 0),
    LEAF("Variant", VARIANT, 0),
    LEAF("Dynamic", DYNAMIC, 0),
    LEAF("Object", OBJECT, 0),
    LEAF("QBit", QBIT, 0),
    LEAF("Point", POINT, 0),
    LEAF("Ring", RING, 0),
    LEAF("LineString", LINE_STRING, 0),
    LEAF("MultiLineString", MULTI_LINE_STRING, 0),
    LEAF("Polygon", POLYGON, 0),
    LEAF("MultiPolygon", MULTI_POLYGON, 0),
    LEAF("Geometry", GEOMETRY, 0),
    LEAF("SimpleAggregateFunction", SIMPLE_AGGREGATE_FUNCTION, 0),
    LEAF("AggregateFunction", AGGREGATE_FUNCTION, 0),
    INTERVAL("Nanosecond", 0),
    INTERVAL("Microsecond", 1),
    INTERVAL("Millisecond", 2),
    INTERVAL("Second", 3),
    INTERVAL("Minute", 4),
    INTERVAL("Hour", 5),
    INTERVAL("Day", 6),
    INTERVAL("Week", 7),
    INTERVAL("Month", 8),
    INTERVAL("Quarter", 9),
    INTERVAL("Year", 10),
};

/* Names whose case does not matter. */
static const struct chute_type_family folded[] = {
    LEAF("Bool", BOOL, 1),           LEAF("Date", DATE, 2),
    LEAF("Date32", DATE32, 4),       LEAF("DateTime", DATETIME, 4),
    LEAF("DateTime32", DATETIME, 4), LEAF("DateTime64", DATETIME64, 8),
    LEAF("Time", TIME, 4),           LEAF("Time64", TIME64, 8),
    LEAF("Enum8", ENUM8, 1),         LEAF("Enum16", ENUM16, 2),
    LEAF("Enum", ENUM8, 0), /* width 0: its numbers choose between 8 and 16 */
    LEAF("JSON", JSON, 0),           DECIMAL("Decimal", 0),
    DECIMAL("Decimal32", 9),         DECIMAL("Decimal64", 18),
    DECIMAL("Decimal128", 38),       DECIMAL("Decimal256", 76),
};

struct alias {
    const char *name; /* upper case: case does not matter */
    const char *family;
};

static const struct alias aliases[] = {
    {"BOOLEAN", "Bool"},
    {"TIMESTAMP", "DateTime"},
    {"DEC", "Decimal"},
    {"FIXED", "Decimal"},
    {"NUMERIC", "Decimal"},
    {"BINARY", "FixedString"},
    {"FLOAT", "Float32"},
    {"REAL", "Float32"},
    {"SINGLE", "Float32"},
    {"DOUBLE", "Float64"},
    {"DOUBLE PRECISION", "Float64"},
    {"INET4", "IPv4"},
    {"INET6", "IPv6"},
    {"SMALLINT", "Int16"},
    {"SMALLINT SIGNED", "Int16"},
    {"INT", "Int32"},
    {"INT SIGNED", "Int32"},
    {"INTEGER", "Int32"},
    {"INTEGER SIGNED", "Int32"},
    {"MEDIUMINT", "Int32"},
    {"MEDIUMINT SIGNED", "Int32"},
    {"BIGINT", "Int64"},
    {"BIGINT SIGNED", "Int64"},
    {"SIGNED", "Int64"},
    {"BYTE", "Int8"},
    {"INT1", "Int8"},
    {"INT1 SIGNED", "Int8"},
    {"TINYINT", "Int8"},
    {"TINYINT SIGNED", "Int8"},
    {"BINARY LARGE OBJECT", "String"},
    {"BINARY VARYING", "String"},
    {"BLOB", "String"},
    {"BYTEA", "String"},
    {"CHAR", "String"},
    {"CHAR LARGE OBJECT", "String"},
    {"CHAR VARYING", "String"},
    {"CHARACTER", "String"},
    {"CHARACTER LARGE OBJECT", "String"},
    {"CHARACTER VARYING", "String"},
    {"CLOB", "String"},
    {"LONGBLOB", "String"},
    {"LONGTEXT", "String"},
    {"MEDIUMBLOB", "String"},
    {"MEDIUMTEXT", "String"},
    {"NATIONAL CHAR", "String"},
    {"NATIONAL CHAR VARYING", "String"},
    {"NATIONAL CHARACTER", "String"},
    {"NATIONAL CHARACTER LARGE OBJECT", "String"},
    {"NATIONAL CHARACTER VARYING", "String"},
    {"NCHAR", "String"},
    {"NCHAR LARGE OBJECT", "String"},
    {"NCHAR VARYING", "String"},
    {"NVARCHAR", "String"},
    {"TEXT", "String"},
    {"TINYBLOB", "String"},
    {"TINYTEXT", "String"},
    {"VARBINARY", "String"},
    {"VARCHAR", "String"},
    {"VARCHAR2", "String"},
    {"SMALLINT UNSIGNED", "UInt16"},
    {"YEAR", "UInt16"},
    {"INT UNSIGNED", "UInt32"},
    {"INTEGER UNSIGNED", "UInt32"},
    {"MEDIUMINT UNSIGNED", "UInt32"},
    {"BIGINT UNSIGNED", "UInt64"},
    {"BIT", "UInt64"},
    {"SET", "UInt64"},
    {"UNSIGNED", "UInt64"},
    {"INT1 UNSIGNED", "UInt8"},
    {"TINYINT UNSIGNED", "UInt8"},
};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static bool same(const char *known, const char *name, size_t len) {
    return strlen(known) == len && memcmp(known, name, len) == 0;
}

static bool same_folded(const char *known, const char *name, size_t len) {
    return strlen(known) == len && strncasecmp(known, name, len) == 0;
}

static const struct chute_type_family *find_family(const char *name, size_t len) {
    for (size_t i = 0; i < COUNT(families); i++)
        if (same(families[i].name, name, len)) return &families[i];
    for (size_t i = 0; i < COUNT(folded); i++)
        if (same_folded(folded[i].name, name, len)) return &folded[i];
    return NULL;
}

const struct chute_type_family *chute_type_family_find(const char *name, size_t len) {
    const struct chute_type_family *family = find_family(name, len);
    for (size_t i = 0; !family && i < COUNT(aliases); i++)
        if (same_folded(aliases[i].name, name, len))
            family = find_family(aliases[i].family, strlen(aliases[i].family));
    if (!family && same("GEOMETRY", name, len)) family = find_family("Geometry", 8);
    return family;
}

const struct chute_type_family *chute_type_family_of_kind(uint32_t kind) {
    for (size_t i = 0; i < COUNT(families); i++)
        if (families[i].kind == kind) return &families[i];
    for (size_t i = 0; i < COUNT(folded); i++)
        if (folded[i].kind == kind) return &folded[i];
    return NULL;
}

bool chute_type_family_continues(const char *words, size_t len) {
    for (size_t i = 0; i < COUNT(aliases); i++) {
        const char *name = aliases[i].name;
        if (strlen(name) > len && name[len] == ' ' && strncasecmp(name, words, len) == 0)
            return true;
    }
    return false;
}

static int fold(char c) {
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

/* Edits that turn one name into the other, case aside. Both at most NAME_MAX_BYTES long. */
static unsigned distance(const char *a, size_t a_len, const char *b, size_t b_len) {
    unsigned row[NAME_MAX_BYTES + 1];
    for (unsigned j = 0; j <= b_len; j++) row[j] = j;
    for (size_t i = 0; i < a_len; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i + 1;
        for (size_t j = 0; j < b_len; j++) {
            unsigned best = diagonal + (fold(a[i]) != fold(b[j]));
            diagonal = row[j + 1];
            if (diagonal + 1 < best) best = diagonal + 1;
            if (row[j] + 1 < best) best = row[j] + 1;
            row[j + 1] = best;
        }
    }
    return row[b_len];
}

struct nearest {
    const char *name;
    unsigned distance;
};

static void consider(struct nearest *best, const char *known, const char *name, size_t len) {
    size_t known_len = strlen(known), longer = known_len > len ? known_len - len : len - known_len;
    if (longer >= best->distance) return;
    unsigned d = distance(name, len, known, known_len);
    if (d >= best->distance) return;
    best->distance = d;
    best->name = known;
}

const char *chute_type_family_near(const char *name, size_t len) {
    if (len == 0 || len > NAME_MAX_BYTES) return NULL;
    struct nearest best = {NULL, len < 4 ? 2 : 3};
    for (size_t i = 0; i < COUNT(families); i++) consider(&best, families[i].name, name, len);
    for (size_t i = 0; i < COUNT(folded); i++) consider(&best, folded[i].name, name, len);
    for (size_t i = 0; i < COUNT(aliases); i++) consider(&best, aliases[i].name, name, len);
    return best.name;
}
