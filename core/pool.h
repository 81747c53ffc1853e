/* pool: the threads between streams and servers.
 *
 *   query, submit ─► to_pack ─► chute-zip (packer.c) ─► ready ─► chute-io (sender.c) ─► transport
 *
 * Its memory is counted in holds: of the open pool (all its handles together), of each thread and
 * of each request that its caller has not freed. The last handle closes; the last hold frees.
 */
#ifndef CHUTE_POOL_H
#define CHUTE_POOL_H

#include "hosts.h"
#include "meter.h"
#include "transport.h"

#include <pthread.h>

enum { CHUTE_COMPRESSORS_MAX = 64 };
enum { CHUTE_READY_QUERIES, CHUTE_READY_INSERTS };

/* Batches in order of arrival. */

struct chute_pool {
    _Atomic uint32_t refs;    /* handles */
    _Atomic uint32_t holds;   /* on the memory */
    _Atomic uint32_t running; /* threads that have not come to their end */
    uint32_t generation;      /* of the process */
    struct chute_hosts hosts;
    chute_access access;
    chute_meter meter;
    bool takes_raw, takes_apart, no_queries; /* as the transport says */
    uint32_t at_once;                        /* requests under way together */
    _Atomic bool closing;

    pthread_mutex_t lock;                /* of all that follows, up to the conditions */
    struct chute_batch_queue batches;    /* to pack */
    struct chute_request_queue queries;  /* to pack */
    bool batch_next;                     /* whose turn it is to be packed */
    struct chute_request_queue ready[2]; /* to send, by CHUTE_READY_… */
    unsigned turn;                       /* of `ready`: served next */
    chute_transport *transport;          /* NULL once the I/O thread has closed it */
    pthread_cond_t packer_wake, sender_wake;

    /* The I/O thread's alone. */
    chute_request *active; /* under way */
    uint32_t active_count;
    chute_request *resting; /* failed, for another attempt: the next due first */
    _Atomic uint64_t retries[CHUTE_RETRY_REASONS]; /* attempts that were not the last, by reason */

    uint32_t compressors; /* threads that run */
    bool has_sender;
    pthread_t sender, packers[CHUTE_COMPRESSORS_MAX];
};

/* Main functions of the threads. */
void *chute_packer_run(void *pool);
void *chute_sender_run(void *pool);

/* Puts a packed request in line for sending and wakes the I/O thread. */
void chute_pool_ready(chute_pool *pool, chute_request *request);

/* Ends a request (the pool's reference goes) with a copy of `err`, or as it stands: NULL. */
void chute_pool_end(chute_request *request, const chute_error *err);

/* The last act of a thread: whoever is the last tells the owners of all that is left. */
void chute_pool_thread_ends(chute_pool *pool);

#endif
