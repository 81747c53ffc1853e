/* hosts: the servers of a pool, and which of them serves next. The I/O thread's alone, but for what
 * chute_host calls atomic. */
#ifndef CHUTE_HOSTS_H
#define CHUTE_HOSTS_H

#include "host.h"

struct chute_hosts {
    chute_host *at;
    uint32_t count;
    uint32_t strategy; /* CHUTE_HOSTS_… */
    uint32_t turn;     /* of round robin: looked at next */
};

/* The host to send a request to: of those that are not ejected, else of all; another than the one
 * that failed it last, where there is one. Never NULL. */
chute_host *chute_hosts_pick(struct chute_hosts *hosts, const chute_request *request);

/* What the outcome of a request tells about its host. An ejected host is to be asked whether it
 * lives at host->probe_at; a pool's only host is never ejected. */
void chute_hosts_learn(struct chute_hosts *hosts, chute_host *host, const chute_request *request,
                       uint64_t now_ms);

/* When the next ejected host is to be asked, or CHUTE_NEVER. */
uint64_t chute_hosts_next_probe(const struct chute_hosts *hosts);

#endif
