/* transport: how a pool reaches its destination. One of http, chdb, file; its functions are
 * called by the pool's I/O thread alone, but for wake. */
#ifndef CHUTE_TRANSPORT_H
#define CHUTE_TRANSPORT_H

#include "access.h"
#include "host.h"
#include "request.h"

typedef struct chute_transport chute_transport;

struct chute_transport_ops {
    /* Begins with a request: `finished` is told sooner or later, maybe before this returns. */
    void (*start)(chute_transport *transport, chute_request *request);
    /* Moves what is under way, or waits for it, for a wake or for `timeout_ms`. NULL where
     * nothing outlasts start. */
    void (*poll)(chute_transport *transport, uint32_t timeout_ms);
    void (*wake)(chute_transport *transport); /* any thread: ends a poll, or the next one */
    /* Drops a request that is under way: `finished` is not told of it. True: bytes of its body
     * had left. NULL where nothing outlasts start. */
    bool (*cancel)(chute_transport *transport, chute_request *request);
    /* Goes on with a stream that rested for want of room. NULL where none rests. */
    void (*resume)(chute_transport *transport, chute_request *request);
    void (*close)(chute_transport *transport); /* frees it; nothing is under way */
};

/* The part that every transport begins with. */
struct chute_transport {
    const struct chute_transport_ops *ops;
    chute_host *host; /* borrowed; NULL: each request names its own */
    uint32_t at_once; /* requests that may be under way together */
    bool takes_raw;   /* bodies are wanted as they are, whatever compression was asked */
    bool takes_apart; /* the statement is wanted apart from the body */
    bool no_queries;  /* takes inserts only */
    void *context;
    /* The request's outcome and error are filled in. */
    void (*finished)(void *context, chute_request *request);
};

/* What a transport is opened with. */
struct chute_transport_config {
    const char *libchdb;
    uint32_t size, hosts;
    uint32_t connect_ms, timeout_ms, stall_ms;
    const chute_access *access; /* borrowed until close */
};

/* Each returns NULL and fills err on failure. The host is borrowed until close; a transport that
 * knows its host without asking marks it as met. */
chute_transport *chute_http_open(const struct chute_transport_config *config, chute_error *err);
chute_transport *chute_chdb_open(chute_host *host, const struct chute_transport_config *config,
                                 chute_error *err);
chute_transport *chute_file_open(chute_host *host, const struct chute_transport_config *config,
                                 chute_error *err);

#endif
