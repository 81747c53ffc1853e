/* The words of an Enum. */
#include "type_parser.h"

#include <stdlib.h>
#include <string.h>

enum { ENUM_MAX = 65536 };

struct values {
    struct chute_enum_value *at;
    size_t count;
    size_t capacity;
    int64_t next;   /* the number of a word that comes without */
    bool rest_bare; /* whether those after the first come without */
};

static int add_value(struct chute_parser *p, struct values *values,
                     const struct chute_enum_value *value) {
    if (values->count == values->capacity) {
        size_t capacity = values->capacity ? 2 * values->capacity : 8;
        struct chute_enum_value *at = chute_parser_alloc(p, capacity * sizeof *at);
        if (!at) return CHUTE_E_NOMEM;
        if (values->count) memcpy(at, values->at, values->count * sizeof *at);
        values->at = at;
        values->capacity = capacity;
    }
    values->at[values->count++] = *value;
    return 0;
}

/* `= number`, and maybe `== number`; 1 where there is one, else 0. */
static int parse_number(struct chute_parser *p, int64_t *number) {
    if (!chute_parser_at(p, '=')) return 0;
    int code = chute_parser_advance(p);
    if (code == 0 && chute_parser_at(p, '=')) code = chute_parser_advance(p);
    if (code < 0) return code;
    uint64_t magnitude;
    bool negative;
    size_t at = p->token.start;
    code = chute_parser_integer(p, "the number of the word", &magnitude, &negative);
    if (code < 0) return code;
    if (magnitude > INT32_MAX) return chute_parser_fail(p, at, "the number is out of range");
    *number = negative ? -(int64_t)magnitude : (int64_t)magnitude;
    return 1;
}

/* The first word may be alone in having, or lacking, a number: the others are all alike. */
static int number_word(struct chute_parser *p, struct values *values, size_t at, int has_number,
                       int64_t *number) {
    bool bare = !has_number;
    if (values->count == 0) {
        values->next = bare ? 1 : *number + 1;
    } else if (values->count == 1) {
        values->rest_bare = bare;
    } else if (values->rest_bare != bare) {
        return chute_parser_fail(p, at, "either all words of an Enum have numbers, or none");
    }
    if (bare) *number = values->next++;
    return 0;
}

static int check_range(struct chute_parser *p, size_t at, uint32_t width, int64_t number) {
    int64_t low = width == 1 ? INT8_MIN : INT16_MIN, high = width == 1 ? INT8_MAX : INT16_MAX;
    if (number >= low && number <= high) return 0;
    return chute_parser_fail(p, at, "%lld is not from %lld to %lld, the numbers of Enum%s",
                             (long long)number, (long long)low, (long long)high,
                             width == 1 ? "8" : "16");
}

static int parse_word(struct chute_parser *p, const struct chute_type *type,
                      struct values *values) {
    struct chute_enum_value value;
    size_t at = p->token.start;
    int64_t number = 0;
    if (values->count == ENUM_MAX) return chute_parser_fail(p, at, "too many words in an Enum");
    int code = chute_parser_string(p, &value.name, &value.name_len);
    if (code < 0) return code;
    if ((code = parse_number(p, &number)) < 0) return code;
    if ((code = number_word(p, values, at, code, &number)) < 0) return code;
    if ((code = check_range(p, at, type->width, number)) < 0) return code;
    value.number = (int16_t)number;
    return add_value(p, values, &value);
}

static int by_name(const void *a, const void *b) {
    const struct chute_enum_value *x = a, *y = b;
    size_t shared = x->name_len < y->name_len ? x->name_len : y->name_len;
    int order = memcmp(x->name, y->name, shared);
    return order ? order : (x->name_len > y->name_len) - (x->name_len < y->name_len);
}

static int by_number(const void *a, const void *b) {
    const struct chute_enum_value *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

/* Sorts the words, by name and then by number, and refuses two that are equal. */
static int check_distinct(struct chute_parser *p, struct values *values, size_t at) {
    struct chute_enum_value *v = values->at;
    char shown[CHUTE_QUOTE_MAX];
    qsort(v, values->count, sizeof *v, by_name);
    for (size_t i = 1; i < values->count; i++)
        if (by_name(&v[i - 1], &v[i]) == 0)
            return chute_parser_fail(p, at, "the Enum has the word %s twice",
                                     chute_quote(v[i].name, v[i].name_len, shown, sizeof shown));
    qsort(v, values->count, sizeof *v, by_number);
    for (size_t i = 1; i < values->count; i++)
        if (v[i - 1].number == v[i].number)
            return chute_parser_fail(p, at, "the Enum has the number %d twice", v[i].number);
    return 0;
}

/* `Enum` is the narrower of the two that holds its numbers. */
static void choose_width(struct chute_type *type) {
    bool narrow = type->enum_values[0].number >= INT8_MIN &&
                  type->enum_values[type->enum_count - 1].number <= INT8_MAX;
    type->width = narrow ? 1 : 2;
    type->kind = narrow ? CHUTE_TYPE_ENUM8 : CHUTE_TYPE_ENUM16;
    type->name = narrow ? "Enum8" : "Enum16";
}

int chute_parse_enum(struct chute_parser *p, struct chute_type *type, size_t at) {
    struct values values = {0};
    int more = chute_parser_begin(p);
    for (bool first = true; more > 0 && (more = chute_parser_more(p, first)) > 0; first = false) {
        int code = parse_word(p, type, &values);
        if (code < 0) return code;
    }
    if (more < 0) return more;
    if (values.count == 0) return chute_parser_fail(p, at, "an Enum wants at least one word");
    int code = check_distinct(p, &values, at);
    if (code < 0) return code;
    type->enum_values = values.at;
    type->enum_count = values.count;
    if (type->width == 0) choose_width(type);
    return 0;
}
