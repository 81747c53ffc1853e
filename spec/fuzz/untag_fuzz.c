/* Types in binary: what is read prints as a type that parses, and no shorter input is taken for it.
 */
#include "fuzz.h"

#include "type_untag.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    chute_error err;
    chute_type *type;
    size_t used;
    int code = chute_type_untag(data, size, &type, &used, &err);
    if (code < 0) CHUTE_MUST(err.kind == code && err.message[0] && !type);
    if (code == 0) CHUTE_MUST(used > 0 && used <= size && (type || data[0] == 0));
    if (code != 0 || !type) return 0;
    size_t len = chute_type_print(type, NULL, 0);
    char *text = malloc(len + 1);
    chute_type_print(type, text, len + 1);
    chute_type *again = chute_type_parse(text, len, &err);
    CHUTE_MUST(again);
    chute_type_free(again);
    chute_type_free(type);
    free(text);
    CHUTE_MUST(chute_type_untag(data, used - 1, &type, &used, &err) == 1);
    return 0;
}
