/* Aggregate functions, as AggregateFunction and SimpleAggregateFunction name them. */
#include "type_parser.h"

#include "number.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

struct function {
    const char *name;
    const char *canonical;
};

/* From system.functions of ClickHouse 26.5: aliases, and names whose case does not matter. */
static const struct function folded[] = {
    {"analysisOfVariance", "analysisOfVariance"},
    {"anova", "analysisOfVariance"},
    {"any_value", "any"},
    {"any_value_respect_nulls", "any_respect_nulls"},
    {"approx_top_count", "approx_top_k"},
    {"approx_top_k", "approx_top_k"},
    {"approx_top_sum", "approx_top_sum"},
    {"array_agg", "groupArray"},
    {"array_concat_agg", "groupArrayArray"},
    {"avg", "avg"},
    {"bit_and", "groupBitAnd"},
    {"bit_or", "groupBitOr"},
    {"bit_xor", "groupBitXor"},
    {"corr", "corr"},
    {"count", "count"},
    {"covar_pop", "covarPop"},
    {"covar_samp", "covarSamp"},
    {"dense_rank", "denseRank"},
    {"first_value", "any"},
    {"first_value_respect_nulls", "any_respect_nulls"},
    {"group_concat", "groupConcat"},
    {"kolmogorovSmirnovTest", "kolmogorovSmirnovTest"},
    {"lag", "lag"},
    {"last_value", "anyLast"},
    {"last_value_respect_nulls", "anyLast_respect_nulls"},
    {"lead", "lead"},
    {"max", "max"},
    {"min", "min"},
    {"nth_value", "nth_value"},
    {"ntile", "ntile"},
    {"percent_rank", "percentRank"},
    {"rank", "rank"},
    {"row_number", "row_number"},
    {"std", "stddevPop"},
    {"stddev", "stddevSamp"},
    {"stddev_pop", "stddevPop"},
    {"stddev_samp", "stddevSamp"},
    {"string_agg", "groupConcat"},
    {"sum", "sum"},
    {"var_pop", "varPop"},
    {"var_samp", "varSamp"},
};

static const struct function exact[] = {
    {"anyLastRespectNulls", "anyLast_respect_nulls"},
    {"anyRespectNulls", "any_respect_nulls"},
    {"anyValueRespectNulls", "any_respect_nulls"},
    {"firstValueRespectNulls", "any_respect_nulls"},
    {"lastValueRespectNulls", "anyLast_respect_nulls"},
    {"lttb", "largestTriangleThreeBuckets"},
    {"maxMappedArrays", "maxMap"},
    {"median", "quantile"},
    {"medianBFloat16", "quantileBFloat16"},
    {"medianBFloat16Weighted", "quantileBFloat16Weighted"},
    {"medianDD", "quantileDD"},
    {"medianDeterministic", "quantileDeterministic"},
    {"medianExact", "quantileExact"},
    {"medianExactHigh", "quantileExactHigh"},
    {"medianExactLow", "quantileExactLow"},
    {"medianExactWeighted", "quantileExactWeighted"},
    {"medianExactWeightedInterpolated", "quantileExactWeightedInterpolated"},
    {"medianGK", "quantileGK"},
    {"medianInterpolatedWeighted", "quantileInterpolatedWeighted"},
    {"medianTDigest", "quantileTDigest"},
    {"medianTDigestWeighted", "quantileTDigestWeighted"},
    {"medianTiming", "quantileTiming"},
    {"medianTimingWeighted", "quantileTimingWeighted"},
    {"minMappedArrays", "minMap"},
    {"sparkBar", "sparkbar"},
    {"sumMappedArrays", "sumMap"},
    {"timeSeriesLastToGrid", "timeSeriesResampleToGridWithStaleness"},
};

static const char *const combinators[] = {
    "SimpleState", "OrDefault", "Distinct", "Resample", "ForEach", "ArgMax", "ArgMin",
    "OrNull",      "Merge",     "State",    "Array",    "Null",    "Map",    "If",
};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const char *find(const char *name, size_t len) {
    for (size_t i = 0; i < COUNT(exact); i++)
        if (strlen(exact[i].name) == len && memcmp(exact[i].name, name, len) == 0)
            return exact[i].canonical;
    for (size_t i = 0; i < COUNT(folded); i++)
        if (strlen(folded[i].name) == len && strncasecmp(folded[i].name, name, len) == 0)
            return folded[i].canonical;
    return NULL;
}

static size_t combinator_len(const char *name, size_t len) {
    for (size_t i = 0; i < COUNT(combinators); i++) {
        size_t n = strlen(combinators[i]);
        if (n < len && memcmp(name + len - n, combinators[i], n) == 0) return n;
    }
    return 0;
}

/* Writes the name a server knows the function by: aliases and, where it does not matter, case
 * resolved, under combinators too. Unknown names are left as they are. */
static void write_name(const char *name, size_t len, struct chute_text *text) {
    size_t base = len, suffix;
    const char *canonical = find(name, len);
    while (!canonical && (suffix = combinator_len(name, base)) > 0) {
        base -= suffix;
        canonical = find(name, base);
    }
    if (!canonical) {
        chute_text_bytes(text, name, len);
        return;
    }
    chute_text_put(text, canonical);
    chute_text_bytes(text, name + base, len - base);
}

/* ---- parameters: literals ----------------------------------------------------------------- */

static int write_literal(struct chute_parser *p, struct chute_text *text);

static int write_string(struct chute_parser *p, struct chute_text *text) {
    const char *string;
    size_t len;
    int code = chute_parser_string(p, &string, &len);
    if (code == 0) chute_text_quoted(text, string, len, '\'');
    return code;
}

static int write_number(struct chute_parser *p, struct chute_text *text) {
    bool negative = chute_parser_at(p, '-');
    int code = negative || chute_parser_at(p, '+') ? chute_parser_advance(p) : 0;
    if (code < 0) return code;
    struct chute_token token = p->token;
    uint64_t whole;
    double value;
    if (token.kind != CHUTE_TOKEN_NUMBER) return chute_parser_wants(p, "a literal");
    if (negative) chute_text_put(text, "-");
    if (chute_token_integer(p->text, token, &whole)) {
        char digits[CHUTE_NUMBER_TEXT];
        chute_text_bytes(text, digits, chute_format_u64(whole, digits));
    } else if (chute_parse_double(p->text + token.start, token.end - token.start, &value) == 0) {
        chute_text_double(text, value);
    } else {
        return chute_parser_wants(p, "a number");
    }
    return chute_parser_advance(p);
}

static int write_constant(struct chute_parser *p, struct chute_text *text) {
    static const struct function constants[] = {
        {"NULL", "NULL"}, {"true", "true"}, {"false", "false"}, {"inf", "inf"}, {"nan", "nan"}};
    for (size_t i = 0; i < COUNT(constants); i++) {
        if (!chute_parser_at_word(p, constants[i].name)) continue;
        chute_text_put(text, constants[i].canonical);
        return chute_parser_advance(p);
    }
    return chute_parser_wants(p, "a literal");
}

static int write_array(struct chute_parser *p, struct chute_text *text) {
    int code = chute_parser_advance(p);
    chute_text_put(text, "[");
    for (bool first = true; code == 0 && !chute_parser_at(p, ']'); first = false) {
        if (!first && !chute_parser_at(p, ',')) return chute_parser_wants(p, "a comma or ]");
        if (!first) code = chute_parser_advance(p);
        if (!first) chute_text_put(text, ", ");
        if (code == 0) code = write_literal(p, text);
    }
    chute_text_put(text, "]");
    return code < 0 ? code : chute_parser_advance(p);
}

static int write_literal(struct chute_parser *p, struct chute_text *text) {
    if (p->token.kind == CHUTE_TOKEN_STRING) return write_string(p, text);
    if (p->token.kind == CHUTE_TOKEN_WORD) return write_constant(p, text);
    if (!chute_parser_at(p, '[')) return write_number(p, text);
    if (p->depth == CHUTE_TYPE_DEPTH_MAX)
        return chute_parser_fail(p, p->token.start, "arrays nest too deep");
    p->depth++;
    int code = write_array(p, text);
    p->depth--;
    return code;
}

/* Writes `name(literals)`, without parentheses where there are none. */
static int write_call(struct chute_parser *p, struct chute_text *text) {
    static const char word[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
    const char *name;
    size_t at = p->token.start;
    int code = chute_parser_name(p, &name);
    if (code < 0) return code;
    if (name[strspn(name, word)]) return chute_parser_fail(p, at, "that is no function's name");
    write_name(name, strlen(name), text);
    int more = chute_parser_begin(p);
    bool first = true;
    for (; more > 0 && (more = chute_parser_more(p, first)) > 0; first = false) {
        chute_text_put(text, first ? "(" : ", ");
        if ((code = write_literal(p, text)) < 0) return code;
    }
    if (more == 0 && !first) chute_text_put(text, ")");
    return more;
}

/* The version of a state's layout stands first where it is not 0. */
static int write_function(struct chute_parser *p, bool versioned, struct chute_text *text) {
    uint32_t version = 0;
    if (versioned && p->token.kind == CHUTE_TOKEN_NUMBER) {
        int code = chute_parser_uint(p, "the version", 0, UINT32_MAX, &version);
        if (code < 0) return code;
        if (!chute_parser_at(p, ',')) return chute_parser_wants(p, "a comma");
        if ((code = chute_parser_advance(p)) < 0) return code;
    }
    if (version) chute_text_number(text, version);
    if (version) chute_text_put(text, ", ");
    return write_call(p, text);
}

/* Reads the function twice: to measure its canonical text, and to write it. */
static int parse_text(struct chute_parser *p, bool versioned, const char **out) {
    struct chute_token start = p->token;
    struct chute_text text = {NULL, 0, 0};
    int code = write_function(p, versioned, &text);
    if (code < 0) return code;
    char *bytes = chute_parser_alloc(p, text.len + 1);
    if (!bytes) return CHUTE_E_NOMEM;
    p->token = start;
    text = (struct chute_text){bytes, text.len, 0};
    *out = bytes;
    return write_function(p, versioned, &text);
}

/* A server writes version 1 of the states of sumMap, minMap, maxMap and their kin where they do
 * not aggregate a Map, and says so where the type does not. */
static bool has_version_one(const struct chute_type *type) {
    return (strncmp(type->args, "sumMap", 6) == 0 || strncmp(type->args, "minMap", 6) == 0 ||
            strncmp(type->args, "maxMap", 6) == 0) &&
           type->count > 0 && type->children[0]->kind != CHUTE_TYPE_MAP;
}

static int add_version(struct chute_parser *p, struct chute_type *type) {
    size_t size = strlen(type->args) + sizeof "1, ";
    char *text = chute_parser_alloc(p, size);
    if (!text) return CHUTE_E_NOMEM;
    snprintf(text, size, "1, %s", type->args);
    type->args = text;
    return 0;
}

static int parse_types(struct chute_parser *p, struct chute_type *type) {
    struct chute_children list = {0};
    int more;
    while ((more = chute_parser_more(p, false)) > 0) {
        struct chute_type *child;
        int code = chute_parser_type(p, &child);
        if (code == 0) code = chute_children_add(p, &list, child, NULL);
        if (code < 0) return code;
    }
    type->children = list.at;
    type->count = list.count;
    return more;
}

int chute_parse_function(struct chute_parser *p, struct chute_type *type, size_t at) {
    bool simple = type->kind == CHUTE_TYPE_SIMPLE_AGGREGATE_FUNCTION;
    int code = chute_parser_begin(p);
    bool versioned = p->token.kind == CHUTE_TOKEN_NUMBER;
    if (code == 0) return chute_parser_fail(p, at, "%s wants a function", type->name);
    if (code > 0) code = parse_text(p, !simple, &type->args);
    if (code == 0) code = parse_types(p, type);
    if (code < 0) return code;
    if (simple && type->count != 1)
        return chute_parser_fail(p, at, "%s wants a function and one type", type->name);
    return !simple && !versioned && has_version_one(type) ? add_version(p, type) : 0;
}
