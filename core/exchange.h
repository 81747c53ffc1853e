/* exchange: one request and answer over HTTP, on an easy handle of libcurl that is used again. */
#ifndef CHUTE_EXCHANGE_H
#define CHUTE_EXCHANGE_H

#include "transport.h"

#include <curl/curl.h>

typedef struct chute_exchange chute_exchange;

struct chute_exchange {
    chute_exchange *next; /* in the transport's list of spares */
    CURL *easy;
    chute_request *request; /* borrowed; NULL in a spare */
    const chute_host *host; /* the request's */
    uint32_t timeout_ms;

    chute_text url;
    const chute_access *access;
    struct curl_slist *headers, *connect_to;
    struct chute_part {
        const char *at;
        size_t len;
    } parts[2];        /* of the body still to send */
    unsigned attempts; /* times libcurl was about to send it: more than one is a re-send */
    char problem[CURL_ERROR_SIZE];

    /* What the answer's headers said. */
    int32_t code;
    char tag[64];
    bool from_clickhouse, has_query_id;
    uint32_t keep_alive_s; /* 0: nothing said */

    /* For noticing a stall. */
    uint32_t stall_ms;
    size_t body_len, sent; /* sent: when last looked at */
    uint64_t moved_at;     /* monotonic ms, when more had been sent; 0: not begun */
};

/* NULL: no memory. `config` times are in force for all requests that bring none. */
chute_exchange *chute_exchange_new(const struct chute_transport_config *config);
void chute_exchange_free(chute_exchange *exchange); /* taken */

/* Makes the handle ready to send the request. `max_idle_s`: seconds after which an idle
 * connection is not used again, 0: use none again. 0, or fills err. */
int chute_exchange_prepare(chute_exchange *exchange, chute_request *request, uint32_t max_idle_s,
                           chute_error *err);

/* Whether no byte of the body could be sent for too long. Does for a look now and then. */
bool chute_exchange_stalled(chute_exchange *exchange);

/* The transfer is over: judges it and fills the request's outcome and error. */
void chute_exchange_judge(chute_exchange *exchange, CURLcode result);

/* Forgets the request. */
void chute_exchange_reset(chute_exchange *exchange);

#endif
