/* flow: an answer that its caller takes piece by piece, while it comes. The I/O thread adds, the
 * caller takes; what lies between is bounded, for the connection rests while it is full.
 *
 * An exception may stand at the end of any answer, behind rows: bytes that may be of one are held
 * back until the answer was judged. */
#ifndef CHUTE_FLOW_H
#define CHUTE_FLOW_H

#include "text.h"

enum { CHUTE_FLOW_AHEAD = 1 << 20, CHUTE_FLOW_HELD = 64 * 1024 };

/* All but `taken` under the lock of the request that has it. */
struct chute_flow {
    bool begun;       /* bytes of an answer, not of a refusal, have come */
    bool bare;        /* exceptions come without a mark, as old servers write them */
    bool resting;     /* the connection waits until there is room */
    chute_text text;  /* what has come and was not taken */
    chute_text taken; /* what the caller took last */
};

/* Bytes that may be taken now. */
size_t chute_flow_ready(const struct chute_flow *flow, bool done);

/* Moves them to `taken`. False: no memory. */
bool chute_flow_take(struct chute_flow *flow, size_t len);

void chute_flow_clear(struct chute_flow *flow);

#endif
