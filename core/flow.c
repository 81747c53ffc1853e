#include "flow.h"

#include <string.h>

static const char MARK[] = "__exception__\r\n";

/* A line's end before the mark is part of it where the mark has a tag. */
enum { LINE_END = 2 };

/* The place in the text's last bytes from which on they may be an exception. */
static size_t exception_at(const chute_text *text) {
    size_t from = text->len > CHUTE_FLOW_HELD ? text->len - CHUTE_FLOW_HELD : 0;
    const char *mark = memmem(text->at + from, text->len - from, MARK, sizeof MARK - 1);
    size_t at = mark ? (size_t)(mark - text->at) : text->len;
    size_t before = mark ? LINE_END : LINE_END + sizeof MARK - 2;
    return at > before ? at - before : 0;
}

size_t chute_flow_ready(const struct chute_flow *flow, bool done) {
    const chute_text *text = &flow->text;
    if (done || text->len == 0) return text->len;
    if (!flow->bare) return exception_at(text);
    return text->len > CHUTE_FLOW_HELD ? text->len - CHUTE_FLOW_HELD : 0;
}

bool chute_flow_take(struct chute_flow *flow, size_t len) {
    chute_text *text = &flow->text;
    chute_text_reset(&flow->taken);
    if (!chute_text_add(&flow->taken, text->at, len)) return false;
    text->len -= len;
    memmove(text->at, text->at + len, text->len + 1);
    return true;
}

void chute_flow_clear(struct chute_flow *flow) {
    chute_text_clear(&flow->text);
    chute_text_clear(&flow->taken);
}
