/* The arguments of JSON: parameters, typed paths, paths to skip. */
#include "type_parser.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { TYPES = 32, PATHS = 1024, TYPES_MAX = 254, PATHS_MAX = 10000 };

struct clauses {
    struct chute_children typed;
    struct chute_children paths;    /* SKIP a.b: names only */
    struct chute_children patterns; /* SKIP REGEXP '…': names only */
};

static int parse_parameter(struct chute_parser *p, struct chute_type *type) {
    size_t at = p->token.start, len = p->token.end - at;
    bool paths = len == 17 && memcmp(p->text + at, "max_dynamic_paths", len) == 0;
    bool types = len == 17 && memcmp(p->text + at, "max_dynamic_types", len) == 0;
    if (!paths && !types) return chute_parser_wants(p, "max_dynamic_paths or max_dynamic_types");
    int code = chute_parser_advance(p);
    if (code == 0) code = chute_parser_advance(p);
    if (code < 0) return code;
    if (paths) return chute_parser_uint(p, "max_dynamic_paths", 0, PATHS_MAX, &type->precision);
    return chute_parser_uint(p, "max_dynamic_types", 0, TYPES_MAX, &type->scale);
}

/* "prefix.name" */
static const char *join(struct chute_parser *p, const char *prefix, const char *name) {
    size_t a = strlen(prefix), b = strlen(name);
    char *joined = chute_parser_alloc(p, a + b + 2);
    if (!joined) return NULL;
    memcpy(joined, prefix, a);
    joined[a] = '.';
    memcpy(joined + a + 1, name, b);
    return joined;
}

static int parse_path(struct chute_parser *p, const char **path) {
    int code = chute_parser_name(p, path);
    for (size_t parts = 1; code == 0 && chute_parser_at(p, '.'); parts++) {
        const char *name;
        if (parts == CHUTE_TYPE_DEPTH_MAX)
            return chute_parser_fail(p, p->token.start, "a path of more than %d parts",
                                     CHUTE_TYPE_DEPTH_MAX);
        code = chute_parser_advance(p);
        if (code == 0) code = chute_parser_name(p, &name);
        if (code == 0 && !(*path = join(p, *path, name))) code = CHUTE_E_NOMEM;
    }
    return code;
}

static int parse_skip(struct chute_parser *p, struct clauses *clauses) {
    const char *text;
    int code = chute_parser_advance(p);
    bool pattern = code == 0 && chute_parser_at_word(p, "REGEXP");
    if (pattern) code = chute_parser_advance(p);
    if (code == 0) code = pattern ? chute_parser_string(p, &text, NULL) : parse_path(p, &text);
    if (code < 0) return code;
    return chute_children_add(p, pattern ? &clauses->patterns : &clauses->paths, NULL, text);
}

static int parse_typed(struct chute_parser *p, struct clauses *clauses) {
    const char *path;
    struct chute_type *child;
    int code = parse_path(p, &path);
    if (code == 0) code = chute_parser_type(p, &child);
    return code < 0 ? code : chute_children_add(p, &clauses->typed, child, path);
}

static int parse_clause(struct chute_parser *p, struct chute_type *type, struct clauses *clauses) {
    struct chute_token next = chute_parser_peek(p);
    if (next.kind == CHUTE_TOKEN_PUNCT && p->text[next.start] == '=')
        return parse_parameter(p, type);
    if (chute_parser_at_word(p, "SKIP")) return parse_skip(p, clauses);
    return parse_typed(p, clauses);
}

struct typed_path {
    const char *name;
    struct chute_type *type;
};

static int by_path(const void *a, const void *b) {
    return strcmp(((const struct typed_path *)a)->name, ((const struct typed_path *)b)->name);
}

static int sort_typed(struct chute_parser *p, struct chute_type *type,
                      const struct chute_children *list, size_t at) {
    if (list->count == 0) return 0;
    struct typed_path *all = chute_parser_alloc(p, list->count * sizeof *all);
    if (!all) return CHUTE_E_NOMEM;
    for (size_t i = 0; i < list->count; i++)
        all[i] = (struct typed_path){list->names[i], list->at[i]};
    qsort(all, list->count, sizeof *all, by_path);
    for (size_t i = 0; i < list->count; i++) {
        if (i && by_path(&all[i - 1], &all[i]) == 0)
            return chute_parser_fail(p, at, "JSON has two types for the path %.200s", all[i].name);
        list->at[i] = all[i].type;
        list->names[i] = all[i].name;
    }
    type->children = list->at;
    type->names = list->names;
    type->count = list->count;
    return 0;
}

static int compare_texts(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void write_skips(const struct chute_children *list, bool patterns, struct chute_text *text) {
    for (size_t i = 0; i < list->count; i++) {
        const char *name = list->names[i];
        chute_text_put(text, text->len ? ", SKIP " : "SKIP ");
        if (patterns) chute_text_put(text, "REGEXP ");
        if (patterns)
            chute_text_quoted(text, name, strlen(name), '\'');
        else if (strcasecmp(name, "REGEXP") == 0) /* bare, it would announce a pattern */
            chute_text_quoted(text, name, strlen(name), '`');
        else
            chute_text_name(text, name);
    }
}

static void write_clauses(const struct clauses *clauses, struct chute_text *text) {
    write_skips(&clauses->paths, false, text);
    write_skips(&clauses->patterns, true, text);
}

/* Drops what a sorted list of names has twice; how many are left. */
static size_t without_repeats(struct chute_children *list) {
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++)
        if (kept == 0 || strcmp(list->names[kept - 1], list->names[i]) != 0)
            list->names[kept++] = list->names[i];
    return list->count = kept;
}

static int keep_skips(struct chute_parser *p, struct chute_type *type, struct clauses *clauses) {
    if (clauses->paths.count)
        qsort(clauses->paths.names, clauses->paths.count, sizeof(char *), compare_texts);
    if (clauses->patterns.count)
        qsort(clauses->patterns.names, clauses->patterns.count, sizeof(char *), compare_texts);
    type->skip_paths = clauses->paths.names;
    type->skip_path_count = without_repeats(&clauses->paths);
    type->skip_patterns = clauses->patterns.names;
    type->skip_pattern_count = clauses->patterns.count;
    struct chute_text text = {NULL, 0, 0};
    write_clauses(clauses, &text);
    if (text.len == 0) return 0;
    char *out = chute_parser_alloc(p, text.len + 1);
    if (!out) return CHUTE_E_NOMEM;
    text = (struct chute_text){out, text.len, 0};
    write_clauses(clauses, &text);
    type->args = out;
    return 0;
}

/* The first of the sorted typed paths that is not before `path`. */
static size_t lower_bound(const struct chute_children *typed, const char *path) {
    size_t low = 0, high = typed->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(typed->names[middle], path) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* A server takes SKIP by plain prefix: SKIP a covers ab too. */
static int check_skips(struct chute_parser *p, const struct clauses *clauses, size_t at) {
    const struct chute_children *typed = &clauses->typed;
    for (size_t i = 0; i < clauses->paths.count; i++) {
        const char *prefix = clauses->paths.names[i];
        size_t found = lower_bound(typed, prefix);
        if (found < typed->count && strncmp(typed->names[found], prefix, strlen(prefix)) == 0)
            return chute_parser_fail(p, at, "JSON both types the path %.200s and skips %.200s",
                                     typed->names[found], prefix);
    }
    return 0;
}

int chute_parse_json(struct chute_parser *p, struct chute_type *type) {
    struct clauses clauses = {0};
    size_t at = p->token.start;
    type->precision = PATHS;
    type->scale = TYPES;
    int more = chute_parser_begin(p);
    for (bool first = true; more > 0 && (more = chute_parser_more(p, first)) > 0; first = false) {
        int code = parse_clause(p, type, &clauses);
        if (code < 0) return code;
    }
    if (more == 0) more = sort_typed(p, type, &clauses.typed, at);
    if (more == 0) more = check_skips(p, &clauses, at);
    return more < 0 ? more : keep_skips(p, type, &clauses);
}
