/* batch: a buffer and what its INSERT needs. Once sealed it never changes again, but for the body
 * that the compressor gives it and the outcome that the sender writes. One thread holds it at a
 * time: stream → compressor → I/O thread → done. */
#ifndef CHUTE_BATCH_H
#define CHUTE_BATCH_H

#include "buffer.h"
#include "insert.h"

#include <stdbool.h>

enum { CHUTE_TOKEN_LEN = 36 };

typedef struct chute_batch chute_batch;

struct chute_batch {
    chute_batch *next;               /* in the queue of whoever holds it */
    chute_insert *insert;            /* one reference */
    chute_buffer *buffer;            /* owned by the batch until done */
    char token[CHUTE_TOKEN_LEN + 1]; /* UUID, the server's deduplication token: one a batch */
    uint64_t rows;
    uint64_t bytes;    /* header and rows, uncompressed */
    char *body;        /* compressed body, malloc'ed; NULL: send the buffer's bytes as they are */
    size_t body_len;   /* bytes that go (of the buffer where body is NULL) */
    uint32_t attempts; /* times it was sent */
    chute_error error; /* outcome: kind 0 when the server acknowledged it */

    /* Called once by a thread of the pool when the outcome is known: takes the batch back. Must
     * not block on anything that waits for the pool. */
    void (*done)(chute_batch *batch);
    /* Called by the I/O thread when an attempt failed and another will be made: `error` stands
     * until then. May be NULL. */
    void (*retried)(chute_batch *batch);
    void *owner;
    bool aside; /* the owner's: it does not count among those that the pool has */

    struct chute_spool_slot *slot; /* where the buffer lies; owned; NULL: in memory */
    struct chute_found *found;     /* where it was recovered from; the backlog's */
};

/* Batches in order of arrival, linked by next: its owner guards it. */
struct chute_batch_queue {
    chute_batch *first;
    chute_batch **last; /* where the next goes */
};

static inline void chute_queue_init(struct chute_batch_queue *queue) {
    queue->first = NULL;
    queue->last = &queue->first;
}

static inline void chute_queue_push(struct chute_batch_queue *queue, chute_batch *batch) {
    batch->next = NULL;
    *queue->last = batch;
    queue->last = &batch->next;
}

static inline chute_batch *chute_queue_pop(struct chute_batch_queue *queue) {
    chute_batch *batch = queue->first;
    if (!batch) return NULL;
    queue->first = batch->next;
    if (!queue->first) queue->last = &queue->first;
    return batch;
}

/* A batch around an empty `buffer` (taken), with a fresh token. NULL: out of memory or
 * randomness, and the buffer stays the caller's. */
chute_batch *chute_batch_new(chute_buffer *buffer, chute_insert *insert, chute_error *err);

/* Takes the buffer's rows as they now are: nothing more may be added. */
void chute_batch_seal(chute_batch *batch);

/* Makes it as new: no rows, no body, no outcome, another token (a token is never used twice).
 * 0; or CHUTE_E_SYSTEM without randomness: the batch is then of no use. */
int chute_batch_renew(chute_batch *batch);

/* Called by the pool before the first byte of the batch leaves for a server. */
void chute_batch_attempt(chute_batch *batch);

void chute_batch_free(chute_batch *batch); /* taken, buffer and body with it; NULL is fine */

/* Hands a batch (taken) to the pool: never blocks, never fails; `done` tells the rest. The caller
 * bounds how many it has in flight. (pool.c) */
void chute_pool_submit(chute_pool *pool, chute_batch *batch);

/* How many batches the pool can have under way at a time, compressing and sending: more than that
 * only wait. (pool.c) */
uint32_t chute_pool_window(const chute_pool *pool);

/* Wakes the I/O thread, which then looks at all that waits. (pool.c) */
void chute_pool_wake(chute_pool *pool);

/* One more reference to a pool; chute_pool_close gives it back. (pool.c) */
chute_pool *chute_pool_keep(chute_pool *pool);

#endif
