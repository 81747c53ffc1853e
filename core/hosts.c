#include "hosts.h"

#include "clock.h"
#include "retry.h"

/* Failures in a row that eject a host, and for how long at first and at most. */
enum { EJECT_AFTER = 3, EJECT_MS = 500, EJECT_MAX_MS = 30000 };

/* ---- choosing ----------------------------------------------------------------------------- */

static uint32_t first_to_look_at(struct chute_hosts *hosts) {
    switch (hosts->strategy) {
    case CHUTE_HOSTS_IN_ORDER: return 0;
    case CHUTE_HOSTS_RANDOM: return (uint32_t)chute_random(hosts->count);
    default: return hosts->turn++ % hosts->count;
    }
}

/* How much is against a host: less is better. */
static uint64_t burden(const struct chute_hosts *hosts, const chute_host *host,
                       const chute_request *request) {
    uint64_t busy = hosts->strategy == CHUTE_HOSTS_LEAST_BUSY ? atomic_load(&host->in_flight) : 0;
    uint64_t ejected = atomic_load(&host->ejected), failed = host == request->host;
    return ejected << 34 | failed << 33 | busy;
}

chute_host *chute_hosts_pick(struct chute_hosts *hosts, const chute_request *request) {
    chute_host *best = NULL;
    uint32_t first = first_to_look_at(hosts);
    for (uint32_t i = 0; i < hosts->count; i++) {
        chute_host *host = &hosts->at[(first + i) % hosts->count];
        if (!best || burden(hosts, host, request) < burden(hosts, best, request)) best = host;
    }
    return best;
}

/* ---- health ------------------------------------------------------------------------------- */

static bool is_gateway_status(int32_t status) {
    return status == 502 || status == 503 || status == 504;
}

/* Whether the host, rather than the request, is at fault. A query's own timeout may be short. */
static bool host_failed(const chute_request *request) {
    const chute_error *err = &request->error;
    switch (err->kind) {
    case CHUTE_E_NETWORK: return true;
    case CHUTE_E_TIMEOUT: return request->timeout_ms == 0 || !(err->flags & CHUTE_UNCERTAIN);
    case CHUTE_E_SERVER: return err->code == 0 && is_gateway_status(err->status);
    default: return false;
    }
}

static void eject(chute_host *host, uint64_t now_ms) {
    uint64_t wait = EJECT_MS;
    for (uint32_t i = EJECT_AFTER; i < host->failures && wait < EJECT_MAX_MS; i++) wait *= 2;
    if (wait > EJECT_MAX_MS) wait = EJECT_MAX_MS;
    host->probe_at = now_ms + wait / 2 + chute_random(wait / 2 + 1);
    atomic_store(&host->ejected, true);
}

/* What failed on an ejected host that a request went to for want of a better one adds nothing: only
 * its probes do. */
static void count_failure(chute_host *host, const chute_request *request, uint64_t now_ms) {
    if (atomic_load(&host->ejected) && request->kind != CHUTE_REQUEST_PROBE) return;
    if (++host->failures >= EJECT_AFTER) eject(host, now_ms);
}

void chute_hosts_learn(struct chute_hosts *hosts, chute_host *host, const chute_request *request,
                       uint64_t now_ms) {
    if (host_failed(request)) {
        atomic_fetch_add(&host->failed, 1);
        if (hosts->count > 1) count_failure(host, request, now_ms);
        return;
    }
    if (request->error.kind != 0 && request->error.kind != CHUTE_E_SERVER) return;
    host->failures = 0;
    if (!atomic_exchange(&host->ejected, false)) return;
    host->met = host->lasting; /* another version may have come back */
}

uint64_t chute_hosts_next_probe(const struct chute_hosts *hosts) {
    uint64_t next = CHUTE_NEVER;
    for (uint32_t i = 0; i < hosts->count; i++) {
        const chute_host *host = &hosts->at[i];
        if (atomic_load(&host->ejected) && !host->probe && host->probe_at < next)
            next = host->probe_at;
    }
    return next;
}
