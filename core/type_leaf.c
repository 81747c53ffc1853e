#include "type_parser.h"

#include <string.h>
#include <strings.h>

enum { DYNAMIC_TYPES = 32, DYNAMIC_TYPES_MAX = 254 };

static void take_children(struct chute_type *type, const struct chute_children *list) {
    type->children = list->at;
    type->count = list->count;
}

static int close_list(struct chute_parser *p, const struct chute_type *type) {
    int more = chute_parser_more(p, false);
    return more > 0 ? chute_parser_fail(p, p->token.start, "too many arguments to %s", type->name)
                    : more;
}

static int missing(struct chute_parser *p, const struct chute_type *type, size_t at,
                   const char *what) {
    return chute_parser_fail(p, at, "%s wants %s", type->name, what);
}

/* Display widths, as in INT(11), VARCHAR(255) and FLOAT(5, 2): read and forgotten. */
static int parse_widths(struct chute_parser *p, const struct chute_type *type, unsigned most) {
    int more = chute_parser_begin(p);
    for (unsigned i = 0; more > 0 && (more = chute_parser_more(p, i == 0)) > 0; i++) {
        if (i == most)
            return chute_parser_fail(p, p->token.start, "too many arguments to %s", type->name);
        if (p->token.kind != CHUTE_TOKEN_NUMBER) return chute_parser_wants(p, "a number");
        int code = chute_parser_advance(p);
        if (code < 0) return code;
    }
    return more;
}

static int parse_fixed_string(struct chute_parser *p, struct chute_type *type, size_t at) {
    int more = chute_parser_begin(p);
    if (more == 0) return missing(p, type, at, "its size in bytes");
    if (more > 0) more = chute_parser_uint(p, "the size", 1, 0xFFFFFF, &type->width);
    return more < 0 ? more : close_list(p, type);
}

static uint32_t decimal_width(uint32_t digits) {
    return digits <= 9 ? 4 : digits <= 18 ? 8 : digits <= 38 ? 16 : 32;
}

/* Decimal, Decimal(P), Decimal(P, S); Decimal32(S) … come with their digits. */
static int parse_decimal(struct chute_parser *p, struct chute_type *type, size_t at) {
    bool sized = type->precision > 0;
    type->name = "Decimal";
    int code = chute_parser_begin(p);
    if (code == 0 && sized) return missing(p, type, at, "a scale");
    bool empty = code == 0;
    if (empty) type->precision = 10;
    if (!sized && code > 0) code = chute_parser_uint(p, "the precision", 1, 76, &type->precision);
    bool scaled = sized || (!empty && code == 0 && chute_parser_at(p, ','));
    if (code >= 0 && scaled && !sized) code = chute_parser_advance(p);
    if (code >= 0 && scaled && !chute_parser_at(p, ')'))
        code = chute_parser_uint(p, "the scale", 0, type->precision, &type->scale);
    type->width = decimal_width(type->precision);
    if (code < 0 || empty) return code;
    return close_list(p, type);
}

static int parse_zone(struct chute_parser *p, struct chute_type *type) {
    int code = chute_parser_string(p, &type->zone, NULL);
    if (code == 0 && type->zone[0] == '\0') type->zone = NULL;
    return code;
}

static void become(struct chute_type *type, uint32_t kind) {
    const struct chute_type_family *family = chute_type_family_of_kind(kind);
    type->kind = kind;
    type->name = family->name;
    type->width = family->width;
}

/* DateTime32 takes a zone and no precision. */
static int parse_datetime32(struct chute_parser *p, struct chute_type *type) {
    type->name = "DateTime";
    int more = chute_parser_begin(p);
    if (more <= 0 || (more = chute_parser_more(p, true)) <= 0) return more;
    int code = parse_zone(p, type);
    return code < 0 ? code : close_list(p, type);
}

/* A precision other than 0 makes DateTime a DateTime64, and Time a Time64. */
static int parse_ticks(struct chute_parser *p, struct chute_type *type, bool zoned) {
    bool fine = type->kind == CHUTE_TYPE_DATETIME64 || type->kind == CHUTE_TYPE_TIME64;
    if (fine) type->precision = 3;
    int more = chute_parser_begin(p);
    if (more <= 0 || (more = chute_parser_more(p, true)) <= 0) return more;
    bool zone_first = zoned && !fine && p->token.kind == CHUTE_TOKEN_STRING;
    if (zone_first) {
        more = parse_zone(p, type);
        return more < 0 ? more : close_list(p, type);
    }
    int code = chute_parser_uint(p, "the precision", 0, 9, &type->precision);
    if (code < 0) return code;
    if (!fine && type->precision > 0)
        become(type, zoned ? CHUTE_TYPE_DATETIME64 : CHUTE_TYPE_TIME64);
    if ((code = chute_parser_more(p, false)) <= 0) return code;
    if (!zoned) return chute_parser_fail(p, p->token.start, "%s takes no zone", type->name);
    code = parse_zone(p, type);
    return code < 0 ? code : close_list(p, type);
}

static int parse_dynamic(struct chute_parser *p, struct chute_type *type) {
    type->precision = DYNAMIC_TYPES;
    int more = chute_parser_begin(p);
    if (more <= 0 || (more = chute_parser_more(p, true)) <= 0) return more;
    bool named =
        p->token.end - p->token.start == 9 && memcmp(p->text + p->token.start, "max_types", 9) == 0;
    if (!named) return chute_parser_wants(p, "max_types=N");
    int code = chute_parser_advance(p);
    if (code == 0 && !chute_parser_at(p, '=')) code = chute_parser_wants(p, "=");
    if (code == 0) code = chute_parser_advance(p);
    if (code == 0) code = chute_parser_uint(p, "max_types", 0, DYNAMIC_TYPES_MAX, &type->precision);
    return code < 0 ? code : close_list(p, type);
}

static int parse_qbit(struct chute_parser *p, struct chute_type *type, size_t at) {
    struct chute_children list = {0};
    struct chute_type *element;
    int code = chute_parser_begin(p);
    if (code == 0) return missing(p, type, at, "an element type and a size");
    if (code > 0) code = chute_parser_type(p, &element);
    if (code < 0) return code;
    if (element->kind < CHUTE_TYPE_BFLOAT16 || element->kind > CHUTE_TYPE_FLOAT64)
        return chute_parser_fail(p, at, "QBit holds BFloat16, Float32 or Float64, not %s",
                                 element->name);
    if ((code = chute_children_add(p, &list, element, NULL)) < 0) return code;
    take_children(type, &list);
    if (!chute_parser_at(p, ',')) return chute_parser_wants(p, "a comma and the size");
    code = chute_parser_advance(p);
    if (code == 0) code = chute_parser_uint(p, "the size", 1, 0x7FFFFF8, &type->precision);
    return code < 0 ? code : close_list(p, type);
}

static int parse_object(struct chute_parser *p, struct chute_type *type, size_t at) {
    const char *schema;
    int code = chute_parser_begin(p);
    if (code == 0) return missing(p, type, at, "the schema 'json'");
    if (code > 0) code = chute_parser_string(p, &schema, NULL);
    if (code < 0) return code;
    if (strcasecmp(schema, "json") != 0) return missing(p, type, at, "the schema 'json'");
    return close_list(p, type);
}

static bool has_width(uint32_t kind) {
    return (kind >= CHUTE_TYPE_UINT8 && kind <= CHUTE_TYPE_BFLOAT16) || kind == CHUTE_TYPE_INTERVAL;
}

int chute_parse_leaf(struct chute_parser *p, struct chute_type *type, size_t at) {
    switch (type->kind) {
    case CHUTE_TYPE_FIXED_STRING: return parse_fixed_string(p, type, at);
    case CHUTE_TYPE_DECIMAL: return parse_decimal(p, type, at);
    case CHUTE_TYPE_DATETIME:
        if (strcmp(type->name, "DateTime32") == 0) return parse_datetime32(p, type);
        return parse_ticks(p, type, true);
    case CHUTE_TYPE_DATETIME64: return parse_ticks(p, type, true);
    case CHUTE_TYPE_TIME:
    case CHUTE_TYPE_TIME64: return parse_ticks(p, type, false);
    case CHUTE_TYPE_ENUM8:
    case CHUTE_TYPE_ENUM16: return chute_parse_enum(p, type, at);
    case CHUTE_TYPE_DYNAMIC: return parse_dynamic(p, type);
    case CHUTE_TYPE_OBJECT: return parse_object(p, type, at);
    case CHUTE_TYPE_QBIT: return parse_qbit(p, type, at);
    case CHUTE_TYPE_FLOAT32:
    case CHUTE_TYPE_FLOAT64: return parse_widths(p, type, 2);
    case CHUTE_TYPE_STRING: return parse_widths(p, type, 1);
    default: return parse_widths(p, type, has_width(type->kind) ? 1 : 0);
    }
}
