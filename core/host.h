/* host: one server, and what is known of it. */
#ifndef CHUTE_HOST_H
#define CHUTE_HOST_H

#include "request.h"
#include "url.h"

enum {
    CHUTE_KNOWS_ASYNC_INSERT = 1, /* the setting async_insert */
    CHUTE_KNOWS_TOKEN = 2         /* the setting insert_deduplication_token */
};

typedef struct chute_host {
    chute_url url;

    /* The I/O thread's alone. */
    bool met;       /* version and knows are known */
    bool lasting;   /* once and for all: it need not be asked */
    uint32_t knows; /* CHUTE_KNOWS_… */
    char version[32];
    uint32_t keep_alive_s;              /* as the server last said, or 0 */
    uint32_t failures;                  /* in a row */
    uint64_t probe_at;                  /* monotonic ms, of an ejected host */
    chute_request *contact, *probe;     /* under way, or NULL */
    struct chute_request_queue waiting; /* inserts, for the answer to `contact` */

    /* Written by the I/O thread, read by any. */
    _Atomic bool ejected;
    _Atomic uint32_t in_flight;
    _Atomic uint64_t sent, failed; /* attempts begun, and those that the host itself failed */
} chute_host;

/* What to ask a server at first contact, and the format to ask for. NUL-ended, static. */
extern const char chute_host_question[];
extern const char chute_host_answer_format[];

/* Reads the answer. 0, or CHUTE_E_NETWORK where it is none. */
int chute_host_meet(chute_host *host, const char *answer, size_t len, chute_error *err);

/* The settings to send with a request, each name once: those of the URL, ours for inserts where
 * the host knows them, the request's own; later ones win. Borrowed texts, at most
 * chute_host_settings_max of them. Returns how many. */
size_t chute_host_settings_max(const chute_host *host, const chute_request *request);
size_t chute_host_settings(const chute_host *host, const chute_request *request, chute_pair *out);

#endif
