/* sender: the bytes of an answer, paced and cut as the rule has it. */
#include "faultproxy.h"

#include <string.h>

static int lost(struct fp_sender *sender) {
    sender->end = fp_left(sender->conn) ? "left" : "reset";
    return FP_FAILED;
}

/* What the rule does at its cut. */
static int act(struct fp_sender *sender) {
    sender->acted = true;
    switch (sender->rule->action) {
    case FP_RESET: fp_reset(sender->conn); return sender->end = "reset", FP_FAILED;
    case FP_CLOSE: fp_close_late(sender->conn); return sender->end = "closed", FP_FAILED;
    case FP_HOLD: return fp_hold(sender->conn) ? lost(sender) : 0;
    case FP_PAUSE: return fp_pause(sender->conn, sender->rule->ms) ? lost(sender) : 0;
    default: return 0;
    }
}

/* How many of the next bytes go out at once. */
static size_t portion(const struct fp_sender *sender, size_t len) {
    if (sender->rule->step > 0 && len > (size_t)sender->rule->step)
        len = (size_t)sender->rule->step;
    if (!sender->acted && sender->cut >= 0 && len > (size_t)sender->cut - sender->sent)
        len = (size_t)sender->cut - sender->sent;
    return len;
}

int fp_send(struct fp_sender *sender, const void *bytes, size_t len) {
    const char *at = bytes;
    while (len > 0) {
        if (!sender->acted && sender->cut >= 0 && sender->sent >= (uint64_t)sender->cut &&
            act(sender))
            return FP_FAILED;
        size_t n = portion(sender, len);
        if (fp_write(sender->conn, at, n)) return lost(sender);
        sender->sent += n;
        at += n;
        len -= n;
        if (sender->rule->step_ms > 0 && fp_pause(sender->conn, sender->rule->step_ms))
            return lost(sender);
    }
    return 0;
}

int fp_send_text(struct fp_sender *sender, const char *text) {
    return fp_send(sender, text, strlen(text));
}

int fp_send_end(struct fp_sender *sender) {
    return sender->acted ? 0 : act(sender);
}
