/* Values of every type into rooms of every size: an encoder says that one is too small, or writes
 * no byte past it (but for the slack), and the same bytes whatever the room. Values are JSON text;
 * {"$type": "T", "value": v} is a typed one. */
#include "check.h"
#include "json_parse.h"
#include "schema.h"

#include <stdlib.h>

/* Many of a kind: more than the slack and any one bound would hide. */
#define FOUR(x) x x x x
#define MANY(x) FOUR(FOUR(FOUR(x)))

static const struct {
    const char *type;
    int json_text;
    const char *values; /* an object; each of its values is tried */
} CASES[] = {
    {"UInt8", 0, "{\"\":255}"},
    {"Int256", 0, "{\"\":\"-123456789012345678901234567890\",\"\":5}"},
    {"String", 0,
     "{\"\":\"\",\"\":\"short\",\"\":\"exactly thirty-two bytes of text\","
     "\"\":\"one more than thirty-two bytes of text\"}"},
    {"String", 0, "{\"\":\"" MANY("text") "\"}"},
    {"Array(String)", 0, "{\"\":[\"" MANY("text") "\",\"" MANY("x") "\"]}"},
    {"AggregateFunction(sum, UInt8)", 0, "{\"\":\"" MANY("text") "\"}"},
    {"FixedString(70)", 0, "{\"\":\"\",\"\":\"x\"}"},
    {"Nullable(FixedString(70))", 0, "{\"\":\"x\",\"\":null}"},
    {"Time64(9)", 0, "{\"\":\"-999:59:59.999999999\"}"},
    {"Array(Array(FixedString(20)))", 0, "{\"\":[[\"a\",\"b\"],[],[\"c\"]]}"},
    {"Map(String, Array(String))", 0,
     "{\"\":{\"a long key of more than thirty-two bytes\":[\"x\",\"y\"],\"b\":[]}}"},
    {"Tuple(UInt8, Tuple(FixedString(40), String))", 0, "{\"\":[1,[\"x\",\"y\"]]}"},
    {"Nested(a UInt8, b Array(FixedString(33)))", 0, "{\"\":[[1,[\"x\"]],[2,[]]]}"},
    {"MultiPolygon", 0, "{\"\":[[[[1,2],[3,4]],[]],[]]}"},
    {"QBit(Float64, 3)", 0, "{\"\":[1,2,3]}"},
    {"AggregateFunction(sum, UInt8)", 0,
     "{\"\":\"x\",\"\":\"a state may be longer than thirty-two bytes, or not\"}"},
    {"Variant(FixedString(90), Array(FixedString(50)), UInt8)", 0,
     "{\"\":\"x\",\"\":[\"y\",\"z\"],\"\":null,\"\":{\"$type\":\"Array(FixedString(50))\","
     "\"value\":[\"\"]}}"},
    {"Array(Variant(FixedString(90), UInt8))", 0, "{\"\":[\"x\",null,7]}"},
    {"Geometry", 0, "{\"\":[1,2],\"\":[[[[1,2]]]],\"\":{\"$type\":\"Ring\",\"value\":[[1,2]]}}"},
    {"Dynamic", 0,
     "{\"\":null,\"\":true,\"\":1,\"\":1.5,\"\":18446744073709551615,\"\":\"short\","
     "\"\":\"a text of more than thirty-two bytes\",\"\":[],\"\":[1,null,2.5],"
     "\"\":[\"a text of more than thirty-two bytes\",\"x\"],\"\":[[[[[[[[[]]]]]]]],[]]}"},
    {"Dynamic", 0,
     "{\"\":{\"$type\":\"FixedString(500)\",\"value\":\"x\"},"
     "\"\":{\"$type\":\"Array(FixedString(300))\",\"value\":[\"x\",\"y\"]},"
     "\"\":{\"$type\":\"Map(String, Array(Tuple(UInt256, FixedString(99))))\","
     "\"value\":{\"k\":[[1,\"x\"],[2,\"y\"]],\"l\":[]}},"
     "\"\":{\"$type\":\"Array(Dynamic)\",\"value\":[1,{\"$type\":\"FixedString(99)\",\"value\":"
     "\"\"},"
     "\"a text of more than thirty-two bytes\",[1,2]]},"
     "\"\":{\"$type\":\"Enum8('a' = 1, 'a much longer name than others have' = 2)\",\"value\":2},"
     "\"\":{\"$type\":\"JSON(a FixedString(77))\",\"value\":{\"a\":\"x\",\"b\":[1,{\"c\":2}]}}}"},
    {"Array(Dynamic)", 0,
     "{\"\":[1,\"x\",null,[1,2],{\"$type\":\"FixedString(99)\",\"value\":\"\"}]}"},
    {"JSON", 0,
     "{\"\":{},\"\":{\"a\":1},\"\":\"{\\\"a\\\":[1,\\\"x\\\"]}\","
     "\"\":{\"a key that is rather long\":{\"and another one in it\":{\"b\":1,\"c\":2,\"d\":[]}}},"
     "\"\":{\"a\":[1,\"x\",null,[2],{\"k\":{\"l\":[{\"m\":\"n\"}]}}]},"
     "\"\":{\"a\":[{\"b\":[{\"c\":[[{\"d\":1}],[]]}]},null]},"
     "\"\":{\"a\":{\"$type\":\"FixedString(500)\",\"value\":\"x\"}}}"},
    {"JSON(a FixedString(100), b.c Array(FixedString(60)))", 0,
     "{\"\":{\"a\":\"x\",\"b\":{\"c\":[\"y\",\"z\"],\"d\":1}},\"\":{\"b.c\":[]}}"},
    {"JSON", 1,
     "{\"\":{},\"\":{\"a\":1},\"\":\"{\\\"a\\\":[1,\\\"x\\\"]}\","
     "\"\":{\"\\u0001\\u0002\\\"\\\\\":"
     "\"\\u0001\\u0001\\u0001\\u0001\\u0001\\u0001\\u0001\\u0001\"},"
     "\"\":{\"a\":[1,-1.7976931348623157e308,true,false,null,18446744073709551615,[],{}]},"
     "\"\":{\"a\":{\"$type\":\"Array(UInt8)\",\"value\":[1,2]}}}"},
    {"Map(String, JSON)", 1, "{\"\":{\"k\":{\"a\":\"\\n\\n\\n\\n\\n\\n\\n\\n\"},\"l\":{}}}"},
    {"Dynamic", 0,
     "{\"\":[" MANY("1,") "2],\"\":[" MANY("true,") "false],\"\":[" MANY("[],") "[1]]}"},
    {"Dynamic", 0,
     "{\"\":[" MANY("\"thirty-two bytes are in this one..\",") "\"\"],"
                                                               "\"\":{\"$type\":\"Array(UInt256)\","
                                                               "\"value\":[" MANY("1,") "2]}}"},
    {"JSON", 0,
     "{\"\":{\"" MANY("key") "\":{\"a\":1,\"b\":true,\"c\":{\"d\":1}}},"
                             "\"\":{\"a\":[" MANY("1,") "\"x\"],\"b\":[" MANY(
                                 "{\"a\":1},") "{}]}}"},
    {"JSON(a Array(UInt256))", 0, "{\"\":{\"a\":[" MANY("1,") "2]}}"},
    {"JSON", 1,
     "{\"\":{\"a\":\"" MANY("\\u0001") "\"},\"\":{\"" MANY("\\n") "\":[" MANY(
         "0.1234567,") "null]},"
                       "\"\":{\"a\":[" MANY("false,") "[]],\"b\":[" MANY(
                           "{},") "-9223372036854775808]}}"},
    {"Tuple(JSON, Variant(JSON, UInt8), Dynamic)", 0, "{\"\":[{\"a\":1},{\"b\":[2]},\"x\"]}"},
};

/* Makes typed cells of {"$type": …, "value": …}: the type moves next to the value. */
static void make_typed(chute_cell *at, uint32_t used) {
    for (uint32_t i = 0; i < used; i++) {
        if (at[i].kind != CHUTE_CELL_PAIRS || at[i].len != 2) continue;
        chute_cell *part = at + at[i].first;
        if (part->len != 5 || memcmp(part->ptr, "$type", 5) != 0) continue;
        part[2] = part[1];
        at[i].first += 2;
        at[i].kind = CHUTE_CELL_TYPED;
    }
}

enum { ROOM_MAX = 1 << 16 };

static bool sound; /* all that the value at hand did so far */

static void must(bool holds, const char *what) {
    if (!holds && sound) printf("    not so: %s\n", what);
    sound &= holds;
}

/* The row's bytes with that much room: their length, 0 where it was too little. */
static size_t encode(const chute_schema *schema, const chute_cells *cells, size_t room,
                     uint8_t **out) {
    static const uint8_t canary[8] = "canaries";
    size_t len = 0, all = room + CHUTE_WIRE_SLACK;
    chute_error err = {0};
    *out = malloc(all + sizeof canary);
    memcpy(*out + all, canary, sizeof canary);
    int code = chute_schema_encode(schema, cells, 1, *out, room, &len, &err);
    must(memcmp(*out + all, canary, sizeof canary) == 0, "nothing is written past the room");
    must(len <= room, "no more is told to be written than there is room");
    must(code == CHUTE_OK || code == CHUTE_E_FULL, "the value is taken");
    if (code == CHUTE_E_ROW) printf("    %s\n", err.message);
    return code == CHUTE_OK ? len : 0;
}

static void try_rooms(const chute_schema *schema, const chute_cells *cells) {
    uint8_t *whole, *again;
    sound = true;
    size_t len = encode(schema, cells, ROOM_MAX, &whole);
    bool fits = false;
    for (size_t room = 0; len && !fits && room < ROOM_MAX; room += room < 1100 ? 1 : 7) {
        size_t got = encode(schema, cells, room, &again);
        must(got == 0 || (got == len && memcmp(whole, again, len) == 0), "the bytes are the same");
        fits = got == len;
        free(again);
    }
    must(len > 0 && fits, "it fits in the end");
    CHECK(sound);
    free(whole);
}

static void try_case(size_t i, int format) {
    chute_error err = {0};
    chute_schema *schema = chute_schema_new(format, "UTC", 3, &err);
    CHECK_INT(0, chute_schema_add(schema, "v", 1, CASES[i].type, strlen(CASES[i].type), 0, &err));
    chute_schema_set_json_text(schema, CASES[i].json_text);
    CHECK_INT(0, chute_schema_compile(schema, &err));
    chute_json_parser *parser = chute_json_parser_new();
    const char *why = "";
    size_t at = 0;
    const chute_cells *values =
        chute_json_parse(parser, CASES[i].values, strlen(CASES[i].values), &why, &at);
    CHECK(values != NULL);
    if (values) make_typed(values->at, values->used);
    for (uint32_t k = 0; values && k < values->at[0].len; k++) {
        chute_cells row = *values;
        row.at = malloc(row.used * sizeof *row.at);
        memcpy(row.at, values->at, row.used * sizeof *row.at);
        row.at[0] = row.at[values->at[0].first + 2 * k + 1];
        try_rooms(schema, &row);
        free(row.at);
    }
    chute_json_parser_free(parser);
    chute_schema_free(schema);
}

int main(void) {
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        try_case(i, CHUTE_FORMAT_ROW_BINARY);
        try_case(i, CHUTE_FORMAT_ROW_BINARY_WITH_DEFAULTS);
    }
    return check_report("core/room");
}
