/* JSON text: what is read, written and read again is the same; keys are checked without a fault. */
#include "fuzz.h"

#include "json_parse.h"
#include "json_paths.h"
#include "json_write.h"
#include "type.h"

static void must_equal(const chute_cells *a, const chute_cell *x, const chute_cells *b,
                       const chute_cell *y) {
    /* 1.0 may come back as 1 */
    if (x->kind == CHUTE_CELL_NUMBER && y->kind == CHUTE_CELL_INT64) {
        CHUTE_MUST(x->num == (double)y->i64);
        return;
    }
    CHUTE_MUST(x->kind == y->kind);
    switch (x->kind) {
    case CHUTE_CELL_STRING:
        CHUTE_MUST(x->len == y->len && memcmp(x->ptr, y->ptr, x->len) == 0);
        return;
    case CHUTE_CELL_LIST:
    case CHUTE_CELL_PAIRS:
        CHUTE_MUST(x->len == y->len);
        for (uint32_t i = 0; i < chute_cell_parts(x); i++)
            must_equal(a, a->at + x->first + i, b, b->at + y->first + i);
        return;
    default: CHUTE_MUST(x->u64 == y->u64);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *why = NULL;
    size_t at = 0, room = 64 * size + 256;
    chute_error err;
    chute_json_parser *parser = chute_json_parser_new(), *other = chute_json_parser_new();
    chute_type *type = chute_type_parse("JSON(a UInt8, b.c Array(UInt8))", 31, &err);
    chute_json_paths *paths = chute_json_paths_new(type);
    char *text = malloc(size + 1);
    uint8_t *out = malloc(room + CHUTE_WIRE_SLACK);
    memcpy(text, data, size);
    const chute_cells *cells = chute_json_parse(parser, text, size, &why, &at);
    if (!cells) CHUTE_MUST(why && at <= size);
    if (cells) {
        chute_row row = {.cells = cells->at, .used = cells->used, .next = 1, .room = room};
        chute_json_paths_check(paths, &row, cells->at);
        uint8_t *end = chute_json_write(&row, cells->at, out);
        CHUTE_MUST(end && row.next == row.used);
        const chute_cells *again =
            chute_json_parse(other, (char *)out, (size_t)(end - out), &why, &at);
        CHUTE_MUST(again);
        must_equal(cells, cells->at, again, again->at);
    }
    chute_json_parser_free(parser);
    chute_json_parser_free(other);
    chute_json_paths_free(paths);
    chute_type_free(type);
    free(text);
    free(out);
    return 0;
}
