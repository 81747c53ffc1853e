#include "check.h"
#include "encoder.h"
#include "schema.h"

/* The path of a row that is cramped deep inside is counted from nothing, whatever memory held. */
static void cramped(void) {
    static char text[1000];
    uint8_t out[256 + CHUTE_WIRE_SLACK];
    chute_row row;
    chute_schema *schema = chute_schema_new(CHUTE_FORMAT_ROW_BINARY, "UTC", 3, NULL);
    CHECK_INT(0, chute_schema_add(schema, "a", 1, "Array(String)", 13, 0, NULL));
    CHECK_INT(0, chute_schema_compile(schema, NULL));
    chute_cells *cells = chute_cells_new(1);
    cells->at[0] = (chute_cell){.kind = CHUTE_CELL_LIST, .first = 1, .len = 1};
    cells->at[1] = (chute_cell){.kind = CHUTE_CELL_STRING, .ptr = text, .len = sizeof text};
    cells->used = 2;
    memset(&row, 0xFF, sizeof row);
    CHECK(chute_encoder_run(schema->encoder, cells, &row, out, 256) == NULL);
    CHECK(row.cramped);
    CHECK_INT(1, row.depth);
    chute_cells_free(cells);
    chute_schema_free(schema);
}

int main(void) {
    cramped();
    return check_report("core/encoder");
}
