/* json_parse: JSON text to cells, as chute.row would make them from a Lua table. */
#ifndef CHUTE_JSON_PARSE_H
#define CHUTE_JSON_PARSE_H

#include "row.h"

typedef struct chute_json_parser chute_json_parser;

chute_json_parser *chute_json_parser_new(void); /* NULL: out of memory */
void chute_json_parser_free(chute_json_parser *parser);

/* Reads one JSON object, blanks around it, and nothing else: RFC 8259, in UTF-8, integers within 64
 * bits, numbers that a double can hold, nested at most 100 deep; what a server takes. The object is
 * cells->at[0]; all is borrowed from the text and the parser until the next call. NULL: `why` says
 * what is wrong, at byte `at`. */
const chute_cells *chute_json_parse(chute_json_parser *parser, const char *text, size_t len,
                                    const char **why, size_t *at);

#endif
