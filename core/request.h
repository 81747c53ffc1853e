/* request: one statement on its way, and what came of it.
 *
 * Two own it: the caller, and the pool until the outcome is known. The caller may wait for it or
 * let go of it (which cancels it) from any thread at any time. */
#ifndef CHUTE_REQUEST_H
#define CHUTE_REQUEST_H

#include "batch.h"
#include "chute.h"
#include "flow.h"
#include "retry.h"
#include "text.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

enum {
    CHUTE_REQUEST_QUERY,
    CHUTE_REQUEST_PING,
    CHUTE_REQUEST_BATCH,   /* of a stream: the outcome goes to batch->done */
    CHUTE_REQUEST_CONTACT, /* the pool's own, to learn what a host knows */
    CHUTE_REQUEST_PROBE    /* the pool's own, to learn whether an ejected host lives */
};

enum {
    CHUTE_SQL_IN_URL_MAX = 4096, /* bytes, percent-encoded: proxies refuse longer URLs */
    CHUTE_SUMMARY_MAX = 1024
};

/* What the server told beside its answer. */
typedef struct chute_outcome {
    int32_t status;
    chute_text body;
    char summary[CHUTE_SUMMARY_MAX];
    char query_id[128];
    char format[64];
    char timezone[64];
    uint32_t retry_after_ms; /* what the server asked to wait, or 0 */
} chute_outcome;

/* Requests in order of arrival. */
struct chute_request_queue {
    chute_request *first, *last;
};
void chute_request_push(struct chute_request_queue *queue, chute_request *request);
chute_request *chute_request_pop(struct chute_request_queue *queue); /* NULL: it is empty */

struct chute_request {
    chute_request *next; /* in a queue of the pool */
    _Atomic uint32_t refs;
    int kind;
    struct chute_pool *pool; /* set by the pool, which lives at least as long */

    /* What to send: never changes once the pool has it, but for `packed`. */
    bool insert;                             /* rows are sent: the answer to success is empty */
    bool stream;                             /* the answer is taken as it comes */
    bool compress_response;                  /* it may come compressed */
    bool tells_progress;                     /* the server is asked to tell of it */
    bool sql_first;                          /* the statement stands at the head of the body */
    char *sql;                               /* owned; a newline and a NUL follow it */
    size_t sql_len;                          /* without them */
    chute_pair *settings, *params, *headers; /* each owned, in one piece with its texts */
    size_t settings_count, params_count, headers_count;
    char *format; /* default_format, owned, or NULL */
    int compression, level;
    uint32_t timeout_ms;
    char token[CHUTE_TOKEN_LEN + 1]; /* insert: the server's deduplication token */
    const char *rows;                /* borrowed from the batch, or from `owned` */
    size_t rows_len;
    char *owned;
    chute_batch *batch; /* CHUTE_REQUEST_BATCH: owned until done */
    char *packed;       /* owned: the whole compressed body, statement and all; NULL: as it is */
    size_t packed_len;
    uint64_t ready_ms, sent_ms; /* monotonic: in line for sending; handed to the transport */

    /* The outcome: the pool's until `done`, then constant. */
    chute_outcome outcome;
    chute_error error; /* kind 0 after a success */
    void *under_way;   /* the transport's */

    /* The attempts, the I/O thread's alone. */
    struct chute_host *host; /* of the last one, or NULL */
    struct chute_tries tries;
    uint64_t due_ms; /* when the next is to begin */
    bool doubt;      /* one that failed may have been done nevertheless */

    uint32_t generation; /* of the process, when it was made */
    _Atomic bool cancelled;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool done;
    struct chute_flow flow; /* of a stream */
    char progress[256];     /* JSON, under the lock */
};

/* Copies the statement. Two references: one each for the caller and the pool. */
chute_request *chute_request_new(int kind, const chute_query *query, chute_error *err);
/* Takes the batch (not on failure). One reference: the pool's. */
chute_request *chute_request_of_batch(chute_batch *batch, chute_error *err);

/* Forgets the outcome of an attempt, for another; whether it was uncertain is kept. */
void chute_request_again(chute_request *request);

/* Tells whoever waits that the outcome stands, and gives the batch back to its owner. The
 * caller's reference stays. */
void chute_request_finish(chute_request *request);

/* Gives a reference back. True: it was the last, and the request is gone. */
bool chute_request_release(chute_request *request);

bool chute_request_is_done(chute_request *request);

/* The I/O thread's side of a stream. Adds bytes of the answer: 1, or 0: there is no room, they are
 * to come again; negative: no memory. `bare`: see chute_flow. */
int chute_request_flow(chute_request *request, const char *bytes, size_t len, bool bare);
/* The server told of its progress. */
void chute_request_tell(chute_request *request, const char *json, size_t len);
/* Whether a stream that had no room has some again; told once. */
bool chute_request_has_room(chute_request *request);

#endif
