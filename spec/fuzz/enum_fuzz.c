/* The words of an Enum: ascending numbers, and printed in a form that parses to the same. */
#include "fuzz.h"

#include "type.h"

static chute_type *parse(const char *text, size_t len) {
    return chute_type_parse(text, len, NULL);
}

static void compare(const chute_type *a, const chute_type *b) {
    CHUTE_MUST(a->kind == b->kind && a->enum_count == b->enum_count);
    for (size_t i = 0; i < a->enum_count; i++) {
        const struct chute_enum_value *x = &a->enum_values[i], *y = &b->enum_values[i];
        CHUTE_MUST(i == 0 || a->enum_values[i - 1].number < x->number);
        CHUTE_MUST(x->number == y->number && x->name_len == y->name_len);
        CHUTE_MUST(memcmp(x->name, y->name, x->name_len) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char head[] = "Enum(";
    char *text = malloc(size + sizeof head);
    memcpy(text, head, sizeof head - 1);
    if (size) memcpy(text + sizeof head - 1, data, size);
    text[size + sizeof head - 1] = ')';
    chute_type *type = parse(text, size + sizeof head);
    free(text);
    if (!type) return 0;
    size_t len = chute_type_print(type, NULL, 0);
    text = malloc(len + 1);
    chute_type_print(type, text, len + 1);
    chute_type *again = parse(text, len);
    CHUTE_MUST(again);
    compare(type, again);
    free(text);
    chute_type_free(type);
    chute_type_free(again);
    return 0;
}
