/*   tag │ what the family needs │ the types it is made of
 *
 * As a server writes and reads it: sql-reference/data-types/data-types-binary-encoding. */
#include "type_tag.h"

#include "error.h"

#include <stdlib.h>
#include <string.h>

enum { UNKNOWN = 0xFF };

/* Tags of types that need nothing besides, or only their children. */
static const uint8_t TAGS[CHUTE_TYPE_KINDS] = {
    [CHUTE_TYPE_NOTHING] = 0x00,
    [CHUTE_TYPE_UINT8] = 0x01,
    [CHUTE_TYPE_UINT16] = 0x02,
    [CHUTE_TYPE_UINT32] = 0x03,
    [CHUTE_TYPE_UINT64] = 0x04,
    [CHUTE_TYPE_UINT128] = 0x05,
    [CHUTE_TYPE_UINT256] = 0x06,
    [CHUTE_TYPE_INT8] = 0x07,
    [CHUTE_TYPE_INT16] = 0x08,
    [CHUTE_TYPE_INT32] = 0x09,
    [CHUTE_TYPE_INT64] = 0x0A,
    [CHUTE_TYPE_INT128] = 0x0B,
    [CHUTE_TYPE_INT256] = 0x0C,
    [CHUTE_TYPE_FLOAT32] = 0x0D,
    [CHUTE_TYPE_FLOAT64] = 0x0E,
    [CHUTE_TYPE_DATE] = 0x0F,
    [CHUTE_TYPE_DATE32] = 0x10,
    [CHUTE_TYPE_DATETIME] = 0x11,
    [CHUTE_TYPE_DATETIME64] = 0x13,
    [CHUTE_TYPE_STRING] = 0x15,
    [CHUTE_TYPE_FIXED_STRING] = 0x16,
    [CHUTE_TYPE_ENUM8] = 0x17,
    [CHUTE_TYPE_ENUM16] = 0x18,
    [CHUTE_TYPE_DECIMAL] = 0x19,
    [CHUTE_TYPE_UUID] = 0x1D,
    [CHUTE_TYPE_ARRAY] = 0x1E,
    [CHUTE_TYPE_TUPLE] = 0x1F,
    [CHUTE_TYPE_INTERVAL] = 0x22,
    [CHUTE_TYPE_NULLABLE] = 0x23,
    [CHUTE_TYPE_AGGREGATE_FUNCTION] = 0x25,
    [CHUTE_TYPE_LOW_CARDINALITY] = 0x26,
    [CHUTE_TYPE_MAP] = 0x27,
    [CHUTE_TYPE_IPV4] = 0x28,
    [CHUTE_TYPE_IPV6] = 0x29,
    [CHUTE_TYPE_VARIANT] = 0x2A,
    [CHUTE_TYPE_DYNAMIC] = 0x2B,
    [CHUTE_TYPE_POINT] = 0x2C,
    [CHUTE_TYPE_RING] = 0x2C,
    [CHUTE_TYPE_LINE_STRING] = 0x2C,
    [CHUTE_TYPE_MULTI_LINE_STRING] = 0x2C,
    [CHUTE_TYPE_POLYGON] = 0x2C,
    [CHUTE_TYPE_MULTI_POLYGON] = 0x2C,
    [CHUTE_TYPE_GEOMETRY] = 0x2C,
    [CHUTE_TYPE_BOOL] = 0x2D,
    [CHUTE_TYPE_SIMPLE_AGGREGATE_FUNCTION] = 0x2E,
    [CHUTE_TYPE_NESTED] = 0x2F,
    [CHUTE_TYPE_JSON] = 0x30,
    [CHUTE_TYPE_BFLOAT16] = 0x31,
    [CHUTE_TYPE_TIME] = 0x32,
    [CHUTE_TYPE_TIME64] = 0x34,
    [CHUTE_TYPE_QBIT] = 0x36,
    [CHUTE_TYPE_OBJECT] = UNKNOWN,
};

/* ---- pieces -------------------------------------------------------------------------------- */

static void put_byte(chute_text *out, uint32_t byte) {
    chute_text_add(out, &(char){(char)byte}, 1);
}

static void put_leb(chute_text *out, uint64_t value) {
    for (; value >= 0x80; value >>= 7) put_byte(out, (uint32_t)(value & 0x7F) | 0x80);
    put_byte(out, (uint32_t)value);
}

static void put_bytes(chute_text *out, const char *bytes, size_t len) {
    put_leb(out, len);
    chute_text_add(out, bytes, len);
}

static void put_name(chute_text *out, const char *name) {
    put_bytes(out, name, strlen(name));
}

static int put_children(const chute_type *type, bool named, chute_text *out, chute_error *err) {
    for (size_t i = 0; i < type->count; i++) {
        if (named) put_name(out, type->names[i]);
        int rc = chute_type_tag(type->children[i], out, err);
        if (rc != CHUTE_OK) return rc;
    }
    return CHUTE_OK;
}

static int put_counted(const chute_type *type, bool named, chute_text *out, chute_error *err) {
    put_leb(out, type->count);
    return put_children(type, named, out, err);
}

/* ---- families ------------------------------------------------------------------------------ */

/* The next tag is the same with a zone. */
static void put_datetime(const chute_type *type, uint32_t tag, chute_text *out) {
    put_byte(out, tag + (type->zone != NULL));
    if (type->kind == CHUTE_TYPE_DATETIME64) put_byte(out, type->precision);
    if (type->zone) put_name(out, type->zone);
}

static void put_enum(const chute_type *type, uint32_t tag, chute_text *out) {
    put_byte(out, tag);
    put_leb(out, type->enum_count);
    for (size_t i = 0; i < type->enum_count; i++) {
        const struct chute_enum_value *value = type->enum_values + i;
        put_bytes(out, value->name, value->name_len);
        chute_text_add(out, (const char *)&value->number, type->width);
    }
}

static void put_decimal(const chute_type *type, uint32_t tag, chute_text *out) {
    uint32_t step = type->width == 4 ? 0 : type->width == 8 ? 1 : type->width == 16 ? 2 : 3;
    put_byte(out, tag + step);
    put_byte(out, type->precision);
    put_byte(out, type->scale);
}

static int put_tuple(const chute_type *type, uint32_t tag, chute_text *out, chute_error *err) {
    bool named = type->count > 0 && type->names && type->names[0];
    put_byte(out, tag + named);
    return put_counted(type, named, out, err);
}

/* args: "sum", or "1, sumMap" where the state's layout has a version. */
static int put_function(const chute_type *type, uint32_t tag, chute_text *out, chute_error *err) {
    const char *name = type->args;
    char *end;
    unsigned long version = strtoul(name, &end, 10);
    if (end != name) name = end + strspn(end, ", ");
    if (strchr(name, '('))
        return chute_fail(err, CHUTE_E_SCHEMA, "%s of a function with parameters cannot be typed",
                          type->name);
    put_byte(out, tag);
    if (type->kind == CHUTE_TYPE_AGGREGATE_FUNCTION) put_leb(out, version);
    put_name(out, name);
    put_leb(out, 0); /* parameters */
    return put_counted(type, false, out, err);
}

static int put_json(const chute_type *type, uint32_t tag, chute_text *out, chute_error *err) {
    put_byte(out, tag);
    put_byte(out, 0); /* version of this encoding */
    put_leb(out, type->precision);
    put_byte(out, type->scale);
    int rc = put_counted(type, true, out, err);
    put_leb(out, type->skip_path_count);
    for (size_t i = 0; i < type->skip_path_count; i++) put_name(out, type->skip_paths[i]);
    put_leb(out, type->skip_pattern_count);
    for (size_t i = 0; i < type->skip_pattern_count; i++) put_name(out, type->skip_patterns[i]);
    return rc;
}

static int put_type(const chute_type *type, uint32_t tag, chute_text *out, chute_error *err) {
    switch (type->kind) {
    case CHUTE_TYPE_DATETIME:
    case CHUTE_TYPE_DATETIME64: put_datetime(type, tag, out); return CHUTE_OK;
    case CHUTE_TYPE_ENUM8:
    case CHUTE_TYPE_ENUM16: put_enum(type, tag, out); return CHUTE_OK;
    case CHUTE_TYPE_DECIMAL: put_decimal(type, tag, out); return CHUTE_OK;
    case CHUTE_TYPE_TUPLE: return put_tuple(type, tag, out, err);
    case CHUTE_TYPE_AGGREGATE_FUNCTION:
    case CHUTE_TYPE_SIMPLE_AGGREGATE_FUNCTION: return put_function(type, tag, out, err);
    case CHUTE_TYPE_JSON: return put_json(type, tag, out, err);
    default: break;
    }
    put_byte(out, tag);
    switch (type->kind) {
    case CHUTE_TYPE_FIXED_STRING: put_leb(out, type->width); return CHUTE_OK;
    case CHUTE_TYPE_TIME64:
    case CHUTE_TYPE_INTERVAL:
    case CHUTE_TYPE_DYNAMIC: put_byte(out, type->precision); return CHUTE_OK;
    case CHUTE_TYPE_POINT:
    case CHUTE_TYPE_RING:
    case CHUTE_TYPE_LINE_STRING:
    case CHUTE_TYPE_MULTI_LINE_STRING:
    case CHUTE_TYPE_POLYGON:
    case CHUTE_TYPE_MULTI_POLYGON:
    case CHUTE_TYPE_GEOMETRY: put_name(out, type->name); return CHUTE_OK;
    case CHUTE_TYPE_VARIANT: return put_counted(type, false, out, err);
    case CHUTE_TYPE_NESTED: return put_counted(type, true, out, err);
    case CHUTE_TYPE_QBIT: {
        int rc = put_children(type, false, out, err);
        put_leb(out, type->precision);
        return rc;
    }
    default: return put_children(type, false, out, err);
    }
}

int chute_type_tag(const chute_type *type, chute_text *out, chute_error *err) {
    uint32_t tag = TAGS[type->kind];
    if (tag == UNKNOWN) return chute_fail(err, CHUTE_E_SCHEMA, "%s cannot be typed", type->name);
    int rc = put_type(type, tag, out, err);
    if (rc == CHUTE_OK && out->failed) return chute_fail(err, CHUTE_E_NOMEM, "out of memory");
    return rc;
}
