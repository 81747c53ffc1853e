#include "type_internal.h"

#include "number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* A server's defaults, which it leaves out when it prints. */
enum { DYNAMIC_TYPES = 32, JSON_TYPES = 32, JSON_PATHS = 1024 };

void chute_text_bytes(struct chute_text *text, const char *bytes, size_t len) {
    if (text->len < text->capacity) {
        size_t room = text->capacity - text->len;
        memcpy(text->out + text->len, bytes, len < room ? len : room);
    }
    text->len += len;
}

void chute_text_put(struct chute_text *text, const char *s) {
    chute_text_bytes(text, s, strlen(s));
}

void chute_text_number(struct chute_text *text, int64_t number) {
    char digits[CHUTE_NUMBER_TEXT];
    chute_text_bytes(text, digits, chute_format_i64(number, digits));
}

void chute_text_quoted(struct chute_text *text, const char *bytes, size_t len, char quote) {
    static const char special[] = "\b\f\n\r\t\\";
    static const char letters[] = "bfnrt\\";
    chute_text_bytes(text, &quote, 1);
    for (size_t i = 0; i < len; i++) {
        const char *found = bytes[i] ? strchr(special, bytes[i]) : NULL;
        char escaped[2] = {'\\', bytes[i]};
        if (found) escaped[1] = letters[found - special];
        if (bytes[i] == '\0') escaped[1] = '0';
        bool plain = !found && bytes[i] != '\0' && bytes[i] != quote;
        chute_text_bytes(text, plain ? escaped + 1 : escaped, plain ? 1 : 2);
    }
    chute_text_bytes(text, &quote, 1);
}

static bool is_keyword(const char *name) {
    static const char *const keywords[] = {"ALL",    "DISTINCT", "FROM",  "NULL",
                                           "SELECT", "TABLE",    "VALUES"};
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (strcasecmp(name, keywords[i]) == 0) return true;
    return false;
}

static bool is_plain(const char *name) {
    static const char word[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    return *name && !(*name >= '0' && *name <= '9') && name[strspn(name, word)] == '\0' &&
           !is_keyword(name);
}

void chute_text_name(struct chute_text *text, const char *name) {
    if (is_plain(name))
        chute_text_put(text, name);
    else
        chute_text_quoted(text, name, strlen(name), '`');
}

void chute_text_double(struct chute_text *text, double value) {
    char digits[CHUTE_NUMBER_TEXT];
    chute_text_bytes(text, digits, chute_format_double(value, digits));
    if (value == floor(value) && fabs(value) < 1e21) chute_text_put(text, ".");
}

static void write_children(const struct chute_type *type, struct chute_text *text) {
    for (size_t i = 0; i < type->count; i++) {
        if (i) chute_text_put(text, ", ");
        if (type->names) {
            chute_text_name(text, type->names[i]);
            chute_text_put(text, " ");
        }
        chute_type_write(type->children[i], text);
    }
}

static void write_enum(const struct chute_type *type, struct chute_text *text) {
    for (size_t i = 0; i < type->enum_count; i++) {
        if (i) chute_text_put(text, ", ");
        chute_text_quoted(text, type->enum_values[i].name, type->enum_values[i].name_len, '\'');
        chute_text_put(text, " = ");
        chute_text_number(text, type->enum_values[i].number);
    }
}

static void write_parameter(struct chute_text *text, const char *name, uint32_t value,
                            bool *first) {
    chute_text_put(text, *first ? "" : ", ");
    chute_text_put(text, name);
    chute_text_number(text, value);
    *first = false;
}

/* A typed path named SKIP would be read as a clause, so the server quotes it. */
static void write_json_path(const char *path, struct chute_text *text) {
    if (strcasecmp(path, "SKIP") == 0)
        chute_text_quoted(text, path, strlen(path), '`');
    else
        chute_text_name(text, path);
}

static void write_json(const struct chute_type *type, struct chute_text *text) {
    bool first = true;
    if (type->scale != JSON_TYPES) write_parameter(text, "max_dynamic_types=", type->scale, &first);
    if (type->precision != JSON_PATHS)
        write_parameter(text, "max_dynamic_paths=", type->precision, &first);
    for (size_t i = 0; i < type->count; i++) {
        chute_text_put(text, first ? "" : ", ");
        write_json_path(type->names[i], text);
        chute_text_put(text, " ");
        chute_type_write(type->children[i], text);
        first = false;
    }
    if (type->args) chute_text_put(text, first ? "" : ", ");
    if (type->args) chute_text_put(text, type->args);
}

static void write_datetime64(const struct chute_type *type, struct chute_text *text) {
    chute_text_number(text, type->precision);
    if (!type->zone) return;
    chute_text_put(text, ", ");
    chute_text_quoted(text, type->zone, strlen(type->zone), '\'');
}

static void write_function(const struct chute_type *type, struct chute_text *text) {
    chute_text_put(text, type->args);
    if (type->count) chute_text_put(text, ", ");
    write_children(type, text);
}

static void write_decimal(const struct chute_type *type, struct chute_text *text) {
    chute_text_number(text, type->precision);
    chute_text_put(text, ", ");
    chute_text_number(text, type->scale);
}

static void write_arguments(const struct chute_type *type, struct chute_text *text) {
    switch (type->kind) {
    case CHUTE_TYPE_FIXED_STRING: chute_text_number(text, type->width); break;
    case CHUTE_TYPE_DECIMAL: write_decimal(type, text); break;
    case CHUTE_TYPE_DATETIME: chute_text_quoted(text, type->zone, strlen(type->zone), '\''); break;
    case CHUTE_TYPE_DATETIME64: write_datetime64(type, text); break;
    case CHUTE_TYPE_TIME64: chute_text_number(text, type->precision); break;
    case CHUTE_TYPE_ENUM8:
    case CHUTE_TYPE_ENUM16: write_enum(type, text); break;
    case CHUTE_TYPE_DYNAMIC:
        chute_text_put(text, "max_types=");
        chute_text_number(text, type->precision);
        break;
    case CHUTE_TYPE_JSON: write_json(type, text); break;
    case CHUTE_TYPE_QBIT:
        write_children(type, text);
        chute_text_put(text, ", ");
        chute_text_number(text, type->precision);
        break;
    case CHUTE_TYPE_SIMPLE_AGGREGATE_FUNCTION:
    case CHUTE_TYPE_AGGREGATE_FUNCTION: write_function(type, text); break;
    default: write_children(type, text);
    }
}

static bool json_is_plain(const struct chute_type *type) {
    return type->scale == JSON_TYPES && type->precision == JSON_PATHS && type->count == 0 &&
           !type->args;
}

static bool has_arguments(const struct chute_type *type) {
    switch (type->kind) {
    case CHUTE_TYPE_FIXED_STRING:
    case CHUTE_TYPE_DECIMAL:
    case CHUTE_TYPE_DATETIME64:
    case CHUTE_TYPE_TIME64:
    case CHUTE_TYPE_ENUM8:
    case CHUTE_TYPE_ENUM16:
    case CHUTE_TYPE_TUPLE:
    case CHUTE_TYPE_AGGREGATE_FUNCTION: return true;
    case CHUTE_TYPE_DATETIME: return type->zone != NULL;
    case CHUTE_TYPE_DYNAMIC: return type->precision != DYNAMIC_TYPES;
    case CHUTE_TYPE_JSON: return !json_is_plain(type);
    case CHUTE_TYPE_POINT:
    case CHUTE_TYPE_RING:
    case CHUTE_TYPE_LINE_STRING:
    case CHUTE_TYPE_MULTI_LINE_STRING:
    case CHUTE_TYPE_POLYGON:
    case CHUTE_TYPE_MULTI_POLYGON:
    case CHUTE_TYPE_GEOMETRY: return false;
    default: return type->count > 0;
    }
}

void chute_type_write(const struct chute_type *type, struct chute_text *text) {
    chute_text_put(text, type->name);
    if (type->kind == CHUTE_TYPE_OBJECT) chute_text_put(text, "('json')");
    if (!has_arguments(type)) return;
    chute_text_put(text, "(");
    write_arguments(type, text);
    chute_text_put(text, ")");
}

size_t chute_type_print(const chute_type *type, char *out, size_t capacity) {
    struct chute_text text = {out, capacity ? capacity - 1 : 0, 0};
    chute_type_write(type, &text);
    if (capacity) out[text.len < capacity ? text.len : capacity - 1] = '\0';
    return text.len;
}
