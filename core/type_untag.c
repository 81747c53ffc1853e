/* The binary form is written out as the type's text, which is then parsed: one place knows what
 * types there are and which fit in which. */
#include "type_untag.h"

#include "error.h"
#include "text.h"
#include "type.h"

#include <string.h>

enum {
    TAG_NOTHING = 0x00,
    TAG_DATETIME = 0x12, /* with a zone, as the next */
    TAG_DATETIME64 = 0x13,
    TAG_DATETIME64_ZONE = 0x14,
    TAG_FIXED_STRING = 0x16,
    TAG_ENUM8 = 0x17,
    TAG_ENUM16 = 0x18,
    TAG_DECIMAL32 = 0x19,
    TAG_DECIMAL256 = 0x1C,
    TAG_ARRAY = 0x1E,
    TAG_TUPLE = 0x1F,
    TAG_NAMED_TUPLE = 0x20,
    TAG_INTERVAL = 0x22,
    TAG_NULLABLE = 0x23,
    TAG_AGGREGATE = 0x25,
    TAG_LOW_CARDINALITY = 0x26,
    TAG_MAP = 0x27,
    TAG_VARIANT = 0x2A,
    TAG_DYNAMIC = 0x2B,
    TAG_CUSTOM = 0x2C,
    TAG_SIMPLE_AGGREGATE = 0x2E,
    TAG_NESTED = 0x2F,
    TAG_JSON = 0x30,
    TAG_TIME64 = 0x34,
    TAG_QBIT = 0x36
};

enum { MORE = 1 };

/* Tags that are the whole type. */
static const char *const LEAVES[] = {
    [TAG_NOTHING] = "Nothing", [0x01] = "UInt8",    [0x02] = "UInt16",  [0x03] = "UInt32",
    [0x04] = "UInt64",         [0x05] = "UInt128",  [0x06] = "UInt256", [0x07] = "Int8",
    [0x08] = "Int16",          [0x09] = "Int32",    [0x0A] = "Int64",   [0x0B] = "Int128",
    [0x0C] = "Int256",         [0x0D] = "Float32",  [0x0E] = "Float64", [0x0F] = "Date",
    [0x10] = "Date32",         [0x11] = "DateTime", [0x15] = "String",  [0x1D] = "UUID",
    [0x28] = "IPv4",           [0x29] = "IPv6",     [0x2D] = "Bool",    [0x31] = "BFloat16",
    [0x32] = "Time",
};

static const char *const UNITS[] = {"Nanosecond", "Microsecond", "Millisecond", "Second",
                                    "Minute",     "Hour",        "Day",         "Week",
                                    "Month",      "Quarter",     "Year"};

static const char *const CUSTOM[] = {"Bool",    "Point",           "Ring",         "LineString",
                                     "Polygon", "MultiLineString", "MultiPolygon", "Geometry"};

struct untag {
    const uint8_t *at, *end;
    chute_text out;
    unsigned depth;
    chute_error *err;
};

static int fail(struct untag *u, const char *what) {
    return chute_fail(u->err, CHUTE_E_SERVER, "%s", what);
}

/* ---- parts -------------------------------------------------------------------------------- */

static int read_byte(struct untag *u, uint8_t *byte) {
    if (u->at == u->end) return MORE;
    *byte = *u->at++;
    return 0;
}

static int read_leb(struct untag *u, uint64_t *value) {
    uint8_t byte;
    *value = 0;
    for (unsigned shift = 0; shift < 35; shift += 7) {
        int code = read_byte(u, &byte);
        if (code) return code;
        *value |= (uint64_t)(byte & 0x7F) << shift;
        if (!(byte & 0x80)) return 0;
    }
    return fail(u, "a type with a length past 32 bits");
}

static int read_bytes(struct untag *u, const char **bytes, size_t *len) {
    uint64_t n = 0;
    int code = read_leb(u, &n);
    if (code) return code;
    if (n > CHUTE_TYPE_TEXT_MAX) return fail(u, "a type with a name of more than 1 MiB");
    if (n > (size_t)(u->end - u->at)) return MORE;
    *bytes = (const char *)u->at;
    *len = (size_t)n;
    u->at += n;
    return 0;
}

static int put(struct untag *u, const char *text) {
    chute_text_add(&u->out, text, strlen(text));
    return 0;
}

/* Between quotes, all but letters and digits of ASCII as \xNN. */
static int put_quoted(struct untag *u, char quote, const char *bytes, size_t len) {
    chute_text_add(&u->out, &quote, 1);
    for (size_t i = 0; i < len; i++) {
        char c = bytes[i];
        bool plain =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        if (plain)
            chute_text_add(&u->out, &c, 1);
        else
            chute_text_print(&u->out, "\\x%02X", (unsigned char)c);
    }
    chute_text_add(&u->out, &quote, 1);
    return 0;
}

static int read_quoted(struct untag *u, char quote) {
    const char *bytes;
    size_t len;
    int code = read_bytes(u, &bytes, &len);
    return code ? code : put_quoted(u, quote, bytes, len);
}

/* "NAME(byte)" or, of a Decimal, "NAME(byte, byte)". */
static int read_numbers(struct untag *u, const char *name, unsigned count) {
    uint8_t number;
    put(u, name);
    for (unsigned i = 0; i < count; i++) {
        int code = read_byte(u, &number);
        if (code) return code;
        chute_text_print(&u->out, "%s%u", i ? ", " : "(", number);
    }
    return put(u, ")");
}

static int read_leb_text(struct untag *u, const char *before) {
    uint64_t number;
    int code = read_leb(u, &number);
    if (code == 0) chute_text_print(&u->out, "%s%llu", before, (unsigned long long)number);
    return code;
}

static int read_type(struct untag *u);

/* ---- families ----------------------------------------------------------------------------- */

static int read_wrapped(struct untag *u, const char *name) {
    put(u, name);
    put(u, "(");
    int code = read_type(u);
    return code ? code : put(u, ")");
}

/* A count, then so many types, each with its name before it where they are `named`. */
static int read_list(struct untag *u, const char *name, bool named) {
    uint64_t count = 0;
    int code = read_leb(u, &count);
    put(u, name);
    put(u, "(");
    if (code == 0 && count > (size_t)(u->end - u->at)) return MORE;
    for (uint64_t i = 0; code == 0 && i < count; i++) {
        if (i) put(u, ", ");
        if (named) code = read_quoted(u, '`');
        if (named) put(u, " ");
        if (code == 0) code = read_type(u);
    }
    return code ? code : put(u, ")");
}

static int read_map(struct untag *u) {
    put(u, "Map(");
    int code = read_type(u);
    put(u, ", ");
    if (code == 0) code = read_type(u);
    return code ? code : put(u, ")");
}

static int read_enum_number(struct untag *u, bool wide) {
    uint8_t low, high = 0;
    int code = read_byte(u, &low);
    if (code == 0 && wide) code = read_byte(u, &high);
    int number = wide ? (int16_t)(high << 8 | low) : (int8_t)low;
    if (code == 0) chute_text_print(&u->out, " = %d", number);
    return code;
}

static int read_enum(struct untag *u, bool wide) {
    uint64_t count = 0;
    int code = read_leb(u, &count);
    put(u, wide ? "Enum16(" : "Enum8(");
    if (code == 0 && count > (size_t)(u->end - u->at)) return MORE;
    for (uint64_t i = 0; code == 0 && i < count; i++) {
        if (i) put(u, ", ");
        code = read_quoted(u, '\'');
        if (code == 0) code = read_enum_number(u, wide);
    }
    return code ? code : put(u, ")");
}

static int read_zoned(struct untag *u, bool fine) {
    uint8_t precision;
    int code = 0;
    put(u, fine ? "DateTime64(" : "DateTime(");
    if (fine) code = read_byte(u, &precision);
    if (fine && code == 0) chute_text_print(&u->out, "%u, ", precision);
    if (code == 0) code = read_quoted(u, '\'');
    return code ? code : put(u, ")");
}

static int read_interval(struct untag *u) {
    uint8_t unit;
    int code = read_byte(u, &unit);
    if (code) return code;
    if (unit >= sizeof UNITS / sizeof *UNITS) return fail(u, "an Interval of no known unit");
    put(u, "Interval");
    return put(u, UNITS[unit]);
}

static int read_custom(struct untag *u) {
    const char *name;
    size_t len;
    int code = read_bytes(u, &name, &len);
    if (code) return code;
    for (size_t i = 0; i < sizeof CUSTOM / sizeof *CUSTOM; i++)
        if (strlen(CUSTOM[i]) == len && memcmp(CUSTOM[i], name, len) == 0) return put(u, CUSTOM[i]);
    return fail(u, "a custom type that is none of the geometric ones");
}

/* Functions with parameters, which have a binary form of their own, are no functions that
 * SimpleAggregateFunction takes. */
static int read_simple_aggregate(struct untag *u) {
    const char *name;
    size_t len;
    uint64_t count = 0;
    int code = read_bytes(u, &name, &len);
    if (code == 0) code = read_leb(u, &count);
    if (code) return code;
    if (count) return fail(u, "a SimpleAggregateFunction of a function with parameters");
    for (size_t i = 0; i < len; i++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", name[i]) ||
            !name[i])
            return fail(u, "a SimpleAggregateFunction of no function");
    if ((code = read_leb(u, &count))) return code;
    if (count > (size_t)(u->end - u->at)) return MORE;
    put(u, "SimpleAggregateFunction(");
    chute_text_add(&u->out, name, len);
    for (uint64_t i = 0; code == 0 && i < count; i++) {
        put(u, ", ");
        code = read_type(u);
    }
    return code ? code : put(u, ")");
}

/* A count of texts, each after `before`. */
static int read_skips(struct untag *u, const char *before, char quote) {
    uint64_t count = 0;
    int code = read_leb(u, &count);
    if (code == 0 && count > (size_t)(u->end - u->at)) return MORE;
    for (uint64_t i = 0; code == 0 && i < count; i++) {
        put(u, before);
        code = read_quoted(u, quote);
    }
    return code;
}

static int read_typed_paths(struct untag *u) {
    uint64_t count = 0;
    int code = read_leb(u, &count);
    if (code == 0 && count > (size_t)(u->end - u->at)) return MORE;
    for (uint64_t i = 0; code == 0 && i < count; i++) {
        put(u, ", ");
        code = read_quoted(u, '`');
        put(u, " ");
        if (code == 0) code = read_type(u);
    }
    return code;
}

static int read_json(struct untag *u) {
    uint8_t version, types;
    int code = read_byte(u, &version);
    if (code) return code;
    if (version != 0) return fail(u, "JSON in a form of another version");
    code = read_leb_text(u, "JSON(max_dynamic_paths=");
    if (code == 0) code = read_byte(u, &types);
    if (code == 0) chute_text_print(&u->out, ", max_dynamic_types=%u", types);
    if (code == 0) code = read_typed_paths(u);
    if (code == 0) code = read_skips(u, ", SKIP ", '`');
    if (code == 0) code = read_skips(u, ", SKIP REGEXP ", '\'');
    return code ? code : put(u, ")");
}

static int read_qbit(struct untag *u) {
    put(u, "QBit(");
    int code = read_type(u);
    if (code == 0) code = read_leb_text(u, ", ");
    return code ? code : put(u, ")");
}

static int read_fixed_string(struct untag *u) {
    int code = read_leb_text(u, "FixedString(");
    return code ? code : put(u, ")");
}

static int read_dynamic(struct untag *u) {
    uint8_t most;
    int code = read_byte(u, &most);
    if (code == 0) chute_text_print(&u->out, "Dynamic(max_types=%u)", most);
    return code;
}

/* ---- all ---------------------------------------------------------------------------------- */

static int read_tagged(struct untag *u, uint8_t tag) {
    if (tag < sizeof LEAVES / sizeof *LEAVES && LEAVES[tag]) return put(u, LEAVES[tag]);
    if (tag >= TAG_DECIMAL32 && tag <= TAG_DECIMAL256) return read_numbers(u, "Decimal", 2);
    switch (tag) {
    case TAG_DATETIME: return read_zoned(u, false);
    case TAG_DATETIME64: return read_numbers(u, "DateTime64", 1);
    case TAG_DATETIME64_ZONE: return read_zoned(u, true);
    case TAG_FIXED_STRING: return read_fixed_string(u);
    case TAG_ENUM8: return read_enum(u, false);
    case TAG_ENUM16: return read_enum(u, true);
    case TAG_ARRAY: return read_wrapped(u, "Array");
    case TAG_TUPLE: return read_list(u, "Tuple", false);
    case TAG_NAMED_TUPLE: return read_list(u, "Tuple", true);
    case TAG_INTERVAL: return read_interval(u);
    case TAG_NULLABLE: return read_wrapped(u, "Nullable");
    case TAG_AGGREGATE: return fail(u, "a state of an aggregate function, which has no frame");
    case TAG_LOW_CARDINALITY: return read_wrapped(u, "LowCardinality");
    case TAG_MAP: return read_map(u);
    case TAG_VARIANT: return read_list(u, "Variant", false);
    case TAG_DYNAMIC: return read_dynamic(u);
    case TAG_CUSTOM: return read_custom(u);
    case TAG_SIMPLE_AGGREGATE: return read_simple_aggregate(u);
    case TAG_NESTED: return read_list(u, "Nested", true);
    case TAG_JSON: return read_json(u);
    case TAG_TIME64: return read_numbers(u, "Time64", 1);
    case TAG_QBIT: return read_qbit(u);
    default: return chute_fail(u->err, CHUTE_E_SERVER, "the unknown type tag 0x%02X", tag);
    }
}

static int read_type(struct untag *u) {
    uint8_t tag;
    int code = read_byte(u, &tag);
    if (code) return code;
    if (u->depth == CHUTE_TYPE_DEPTH_MAX) return fail(u, "a type of too many types in types");
    u->depth++;
    code = read_tagged(u, tag);
    u->depth--;
    return code;
}

int chute_type_untag(const uint8_t *bytes, size_t len, chute_type **type, size_t *used,
                     chute_error *err) {
    struct untag u = {.at = bytes, .end = bytes + len, .err = err};
    u.out.limit = CHUTE_TYPE_TEXT_MAX;
    int code = read_type(&u);
    *type = NULL;
    *used = (size_t)(u.at - bytes);
    if (code == 0 && u.out.failed) code = fail(&u, "a type of more than 1 MiB");
    if (code == 0 && bytes[0] != TAG_NOTHING) {
        *type = chute_type_parse(u.out.at, u.out.len, err);
        if (!*type) code = CHUTE_E_SERVER; /* which says what is no type */
        if (!*type && err) err->kind = code;
    }
    chute_text_clear(&u.out);
    return code;
}
