/* Type texts: what parses is printed in a form that parses to the same. */
#include "fuzz.h"

#include "chute.h"

static char *print(const chute_type *type) {
    size_t size = chute_type_print(type, NULL, 0) + 1;
    char *text = malloc(size);
    CHUTE_MUST(text && chute_type_print(type, text, size) == size - 1 && strlen(text) == size - 1);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    chute_error err;
    chute_type *type = chute_type_parse((const char *)data, size, &err);
    if (!type) {
        CHUTE_MUST(err.kind < 0 && err.message[0]);
        return 0;
    }
    char *text = print(type);
    chute_type *again = chute_type_parse(text, strlen(text), &err);
    CHUTE_MUST(again);
    char *second = print(again);
    CHUTE_MUST(strcmp(text, second) == 0);
    chute_type_free(type);
    chute_type_free(again);
    free(text);
    free(second);
    return 0;
}
