#include "type_parser.h"

#include <stdlib.h>
#include <string.h>

enum { FAMILY_NAME_MAX = 64, VARIANT_MAX = 255 };

/* ---- containers -------------------------------------------------------------------------- */

static struct chute_type *new_type(struct chute_parser *p, const struct chute_type_family *family) {
    struct chute_type *type = chute_parser_alloc(p, sizeof *type);
    if (!type) return NULL;
    type->kind = family->kind;
    type->name = family->name;
    type->width = family->width;
    type->precision = family->precision;
    return type;
}

static void take_children(struct chute_type *type, const struct chute_children *list) {
    type->children = list->at;
    type->names = list->names;
    type->count = list->count;
}

/* Reads the types in parentheses; exactly `wanted` of them unless that is 0. */
static int parse_types(struct chute_parser *p, struct chute_type *type, size_t wanted, size_t at) {
    struct chute_children list = {0};
    int more = chute_parser_begin(p);
    for (bool first = true; more > 0 && (more = chute_parser_more(p, first)) > 0; first = false) {
        struct chute_type *child;
        int code = chute_parser_type(p, &child);
        if (code == 0) code = chute_children_add(p, &list, child, NULL);
        if (code < 0) return code;
    }
    if (more < 0) return more;
    if (wanted && list.count != wanted)
        return chute_parser_fail(p, at, "%s takes %zu type%s, not %zu", type->name, wanted,
                                 wanted == 1 ? "" : "s", list.count);
    take_children(type, &list);
    return 0;
}

/* What a value of the type is, under the function that only says how a server merges it. */
static const struct chute_type *stored(const struct chute_type *type) {
    while (type->kind == CHUTE_TYPE_SIMPLE_AGGREGATE_FUNCTION) type = type->children[0];
    return type;
}

static bool takes_null(const struct chute_type *type) {
    type = stored(type);
    if (type->kind == CHUTE_TYPE_LOW_CARDINALITY) type = stored(type->children[0]);
    return type->kind == CHUTE_TYPE_NULLABLE;
}

static bool may_be_nullable(const struct chute_type *type) {
    switch (stored(type)->kind) {
    case CHUTE_TYPE_NULLABLE:
    case CHUTE_TYPE_LOW_CARDINALITY:
    case CHUTE_TYPE_ARRAY:
    case CHUTE_TYPE_MAP:
    case CHUTE_TYPE_NESTED:
    case CHUTE_TYPE_VARIANT:
    case CHUTE_TYPE_DYNAMIC:
    case CHUTE_TYPE_OBJECT:
    case CHUTE_TYPE_RING:
    case CHUTE_TYPE_LINE_STRING:
    case CHUTE_TYPE_MULTI_LINE_STRING:
    case CHUTE_TYPE_POLYGON:
    case CHUTE_TYPE_MULTI_POLYGON:
    case CHUTE_TYPE_GEOMETRY:
    case CHUTE_TYPE_AGGREGATE_FUNCTION: return false;
    default: return true;
    }
}

static bool may_be_low_cardinality(const struct chute_type *type) {
    type = stored(type);
    if (type->kind == CHUTE_TYPE_NULLABLE) type = stored(type->children[0]);
    switch (type->kind) {
    case CHUTE_TYPE_BOOL:
    case CHUTE_TYPE_STRING:
    case CHUTE_TYPE_FIXED_STRING:
    case CHUTE_TYPE_DATE:
    case CHUTE_TYPE_DATE32:
    case CHUTE_TYPE_DATETIME:
    case CHUTE_TYPE_TIME:
    case CHUTE_TYPE_INTERVAL:
    case CHUTE_TYPE_UUID:
    case CHUTE_TYPE_IPV4:
    case CHUTE_TYPE_IPV6: return true;
    default: return type->kind >= CHUTE_TYPE_UINT8 && type->kind <= CHUTE_TYPE_FLOAT64;
    }
}

/* "Nullable cannot hold Array(Int8)". */
static int refuse_child(struct chute_parser *p, const struct chute_type *type, size_t at,
                        const char *what, const char *why) {
    const char *inner = chute_parser_canonical(p, type->children[0]);
    if (!inner) return CHUTE_E_NOMEM;
    return chute_parser_fail(p, at, "%s cannot %s %.200s%s", type->name, what, inner, why);
}

static int parse_nullable(struct chute_parser *p, struct chute_type *type, size_t at) {
    int code = parse_types(p, type, 1, at);
    if (code < 0 || may_be_nullable(type->children[0])) return code;
    return refuse_child(p, type, at, "hold", "");
}

static int parse_low_cardinality(struct chute_parser *p, struct chute_type *type, size_t at) {
    int code = parse_types(p, type, 1, at);
    if (code < 0 || may_be_low_cardinality(type->children[0])) return code;
    return refuse_child(p, type, at, "hold", ", only numbers, strings, dates, UUID and addresses");
}

static int parse_map(struct chute_parser *p, struct chute_type *type, size_t at) {
    int code = parse_types(p, type, 2, at);
    if (code < 0 || !takes_null(type->children[0])) return code;
    return refuse_child(p, type, at, "have the key", "");
}

static bool is_identifier(struct chute_token token) {
    return token.kind == CHUTE_TOKEN_WORD || token.kind == CHUTE_TOKEN_QUOTED;
}

/* An identifier before an identifier names an element, as a server has it: "INT UNSIGNED" is an
 * unsigned element called INT. */
static int parse_element(struct chute_parser *p, const struct chute_type *type,
                         struct chute_children *list) {
    size_t at = p->token.start;
    const char *name = NULL;
    bool named = is_identifier(p->token) && is_identifier(chute_parser_peek(p));
    if (!named && type->kind == CHUTE_TYPE_NESTED)
        return chute_parser_fail(p, at, "a name and a type are wanted in Nested");
    if (list->count && is_identifier(p->token) && named != (list->names != NULL))
        return chute_parser_fail(p, at, "all elements of a Tuple are named, or none");
    int code = named ? chute_parser_name(p, &name) : 0;
    if (code < 0) return code;
    if (name && strcmp(name, "null") == 0)
        return chute_parser_fail(p, at, "an element cannot be called null");
    struct chute_type *child;
    code = chute_parser_type(p, &child);
    return code < 0 ? code : chute_children_add(p, list, child, name);
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int check_distinct(struct chute_parser *p, const struct chute_type *type, size_t at) {
    if (!type->names || type->count < 2) return 0;
    const char **sorted = chute_parser_alloc(p, type->count * sizeof *sorted);
    if (!sorted) return CHUTE_E_NOMEM;
    memcpy(sorted, type->names, type->count * sizeof *sorted);
    qsort(sorted, type->count, sizeof *sorted, compare_names);
    for (size_t i = 1; i < type->count; i++) {
        char shown[CHUTE_QUOTE_MAX];
        if (strcmp(sorted[i - 1], sorted[i]) == 0)
            return chute_parser_fail(
                p, at, "%s has two elements called %s", type->name,
                chute_quote(sorted[i], strlen(sorted[i]), shown, sizeof shown));
    }
    return 0;
}

static int parse_tuple(struct chute_parser *p, struct chute_type *type, size_t at) {
    struct chute_children list = {0};
    int more = chute_parser_begin(p);
    for (bool first = true; more > 0 && (more = chute_parser_more(p, first)) > 0; first = false) {
        int code = parse_element(p, type, &list);
        if (code < 0) return code;
    }
    if (more < 0) return more;
    if (list.count == 0 && type->kind == CHUTE_TYPE_NESTED)
        return chute_parser_fail(p, at, "Nested wants at least one column");
    take_children(type, &list);
    return check_distinct(p, type, at);
}

/* ---- Variant ----------------------------------------------------------------------------- */

struct alternative {
    const char *text;
    struct chute_type *type;
};

static int compare_alternatives(const void *a, const void *b) {
    return strcmp(((const struct alternative *)a)->text, ((const struct alternative *)b)->text);
}

static int check_alternative(struct chute_parser *p, const struct chute_type *type, size_t at) {
    uint32_t kind = stored(type)->kind;
    bool refused = takes_null(type) || kind == CHUTE_TYPE_VARIANT || kind == CHUTE_TYPE_DYNAMIC ||
                   kind == CHUTE_TYPE_GEOMETRY;
    return refused ? chute_parser_fail(p, at, "Variant cannot hold a %s", type->name) : 0;
}

/* Sorts by canonical text and drops repetitions, and Nothing, as the server does. */
static int parse_variant(struct chute_parser *p, struct chute_type *type, size_t at) {
    int code = parse_types(p, type, 0, at);
    if (code < 0) return code;
    struct alternative *all = chute_parser_alloc(p, (type->count + 1) * sizeof *all);
    if (!all) return CHUTE_E_NOMEM;
    for (size_t i = 0; i < type->count; i++) {
        all[i].type = type->children[i];
        if ((code = check_alternative(p, all[i].type, at)) < 0) return code;
        if (!(all[i].text = chute_parser_canonical(p, all[i].type))) return CHUTE_E_NOMEM;
    }
    qsort(all, type->count, sizeof *all, compare_alternatives);
    size_t kept = 0;
    for (size_t i = 0; i < type->count; i++) {
        bool repeats = i > 0 && strcmp(all[i - 1].text, all[i].text) == 0;
        if (!repeats && all[i].type->kind != CHUTE_TYPE_NOTHING)
            type->children[kept++] = all[i].type;
    }
    type->count = kept;
    if (kept == 0) return chute_parser_fail(p, at, "Variant wants at least one type");
    return kept <= VARIANT_MAX ? 0 : chute_parser_fail(p, at, "Variant holds at most 255 types");
}

/* ---- geometry: families that stand for others --------------------------------------------- */

static int fill_geometry(struct chute_parser *p, struct chute_type *type);

static int add_geometry(struct chute_parser *p, struct chute_type *type, uint32_t kind,
                        struct chute_children *list) {
    struct chute_type *child = new_type(p, chute_type_family_of_kind(kind));
    if (!child) return CHUTE_E_NOMEM;
    int code = kind == CHUTE_TYPE_FLOAT64 ? 0 : fill_geometry(p, child);
    if (code == 0) code = chute_children_add(p, list, child, NULL);
    take_children(type, list);
    return code;
}

static int fill_geometry(struct chute_parser *p, struct chute_type *type) {
    static const uint8_t holds[][6] = {
        [CHUTE_TYPE_POINT] = {CHUTE_TYPE_FLOAT64, CHUTE_TYPE_FLOAT64},
        [CHUTE_TYPE_RING] = {CHUTE_TYPE_POINT},
        [CHUTE_TYPE_LINE_STRING] = {CHUTE_TYPE_POINT},
        [CHUTE_TYPE_MULTI_LINE_STRING] = {CHUTE_TYPE_LINE_STRING},
        [CHUTE_TYPE_POLYGON] = {CHUTE_TYPE_RING},
        [CHUTE_TYPE_MULTI_POLYGON] = {CHUTE_TYPE_POLYGON},
        [CHUTE_TYPE_GEOMETRY] = {CHUTE_TYPE_LINE_STRING, CHUTE_TYPE_MULTI_LINE_STRING,
                                 CHUTE_TYPE_MULTI_POLYGON, CHUTE_TYPE_POINT, CHUTE_TYPE_POLYGON,
                                 CHUTE_TYPE_RING},
    };
    struct chute_children list = {0};
    for (size_t i = 0; i < 6 && holds[type->kind][i]; i++) {
        int code = add_geometry(p, type, holds[type->kind][i], &list);
        if (code < 0) return code;
    }
    return 0;
}

/* ---- a type: its name, its arguments ------------------------------------------------------ */

static int parse_container(struct chute_parser *p, struct chute_type *type, size_t at) {
    switch (type->kind) {
    case CHUTE_TYPE_NULLABLE: return parse_nullable(p, type, at);
    case CHUTE_TYPE_LOW_CARDINALITY: return parse_low_cardinality(p, type, at);
    case CHUTE_TYPE_ARRAY: return parse_types(p, type, 1, at);
    case CHUTE_TYPE_MAP: return parse_map(p, type, at);
    case CHUTE_TYPE_TUPLE:
    case CHUTE_TYPE_NESTED: return parse_tuple(p, type, at);
    case CHUTE_TYPE_VARIANT: return parse_variant(p, type, at);
    case CHUTE_TYPE_JSON: return chute_parse_json(p, type);
    case CHUTE_TYPE_SIMPLE_AGGREGATE_FUNCTION:
    case CHUTE_TYPE_AGGREGATE_FUNCTION: return chute_parse_function(p, type, at);
    default: return chute_parse_leaf(p, type, at);
    }
}

static int parse_arguments(struct chute_parser *p, struct chute_type *type, size_t at) {
    int code = parse_container(p, type, at);
    bool geometry = type->kind >= CHUTE_TYPE_POINT && type->kind <= CHUTE_TYPE_GEOMETRY;
    return code == 0 && geometry ? fill_geometry(p, type) : code;
}

/* The words of a family's name, one blank between. */
struct words {
    char text[FAMILY_NAME_MAX];
    size_t len;
    size_t at; /* where the first begins */
};

/* Adds the next token to the words; 0 and no change where it cannot be part of a known name. */
static int add_word(struct chute_parser *p, struct words *words) {
    size_t raw = p->token.end - p->token.start, len = raw;
    const char *word = p->text + p->token.start;
    int quoted = p->token.kind == CHUTE_TOKEN_QUOTED;
    if (quoted) word++, len -= 2;
    if (words->len + 1 + len >= sizeof words->text) {
        char shown[CHUTE_QUOTE_MAX];
        return chute_parser_fail(p, p->token.start, "unknown type %s",
                                 chute_quote(word, len, shown, sizeof shown));
    }
    if (words->len) words->text[words->len++] = ' ';
    memcpy(words->text + words->len, word, len);
    words->len += len;
    return chute_parser_advance(p);
}

static int parse_words(struct chute_parser *p, struct words *words) {
    words->len = 0;
    words->at = p->token.start;
    if (!is_identifier(p->token)) return chute_parser_wants(p, "a type");
    int code = add_word(p, words);
    while (code == 0 && p->token.kind == CHUTE_TOKEN_WORD &&
           chute_type_family_continues(words->text, words->len))
        code = add_word(p, words);
    return code;
}

static const struct chute_type_family *find_family(struct chute_parser *p,
                                                   const struct words *words) {
    const struct chute_type_family *family = chute_type_family_find(words->text, words->len);
    if (family) return family;
    char shown[CHUTE_QUOTE_MAX];
    const char *near = chute_type_family_near(words->text, words->len);
    chute_parser_fail(p, words->at, "unknown type %s%s%s%s",
                      chute_quote(words->text, words->len, shown, sizeof shown),
                      near ? " (did you mean " : "", near ? near : "", near ? "?)" : "");
    return NULL;
}

/* MySQL's order: INT(11) UNSIGNED. */
static int parse_sign(struct chute_parser *p, struct words *words, struct chute_type *type) {
    bool integer = type->kind >= CHUTE_TYPE_UINT8 && type->kind <= CHUTE_TYPE_INT256;
    bool sign = chute_parser_at_word(p, "SIGNED") || chute_parser_at_word(p, "UNSIGNED");
    if (!integer || !sign || !chute_type_family_continues(words->text, words->len)) return 0;
    int code = add_word(p, words);
    if (code < 0) return code;
    const struct chute_type_family *family = find_family(p, words);
    if (!family) return CHUTE_E_SCHEMA;
    type->kind = family->kind;
    type->name = family->name;
    type->width = family->width;
    return 0;
}

static int parse_type(struct chute_parser *p, struct chute_type **out) {
    struct words words;
    int code = parse_words(p, &words);
    if (code < 0) return code;
    const struct chute_type_family *family = find_family(p, &words);
    if (!family) return CHUTE_E_SCHEMA;
    struct chute_type *type = new_type(p, family);
    if (!type) return CHUTE_E_NOMEM;
    *out = type;
    code = parse_arguments(p, type, words.at);
    return code < 0 ? code : parse_sign(p, &words, type);
}

int chute_parser_type(struct chute_parser *p, struct chute_type **type) {
    if (p->depth == CHUTE_TYPE_DEPTH_MAX)
        return chute_parser_fail(p, p->token.start, "types nest at most %d deep",
                                 CHUTE_TYPE_DEPTH_MAX);
    p->depth++;
    int code = parse_type(p, type);
    p->depth--;
    return code;
}

static int parse_text(struct chute_parser *p, struct chute_type **type) {
    if (p->len > CHUTE_TYPE_TEXT_MAX)
        return chute_fail(p->err, CHUTE_E_SCHEMA, "a type of %zu bytes: at most %d are taken",
                          p->len, CHUTE_TYPE_TEXT_MAX);
    int code = chute_parser_advance(p);
    if (code == 0) code = chute_parser_type(p, type);
    if (code == 0 && p->token.kind != CHUTE_TOKEN_END)
        code = chute_parser_wants(p, "the end of the type");
    return code;
}

chute_type *chute_type_parse(const char *text, size_t len, chute_error *err) {
    struct chute_parser p = {.text = text, .len = len, .err = err};
    struct chute_type *type = NULL;
    if (parse_text(&p, &type) < 0) {
        chute_type_arena_free(&p.arena);
        return NULL;
    }
    chute_type *root = chute_type_root(&p.arena, type);
    if (!root) chute_parser_no_memory(&p);
    return root;
}
