/* http: the transport over libcurl. */
#include "exchange.h"

#include "error.h"
#include "process.h"

#include <stdlib.h>

enum {
    /* libcurl compares whole seconds: a connection is used again while it was idle for less than
     * max_idle_s + 1. Without a word from the server, the shortest known limit counts: 3 s. */
    KEEP_ALIVE_S = 3,
    MARGIN_S = 2,
    TICK_MS = 500 /* between looks for stalls */
};

struct http {
    chute_transport base;
    struct chute_transport_config config;
    CURLM *multi;
    chute_exchange *spares, *active;
};

static uint32_t idle_limit(const chute_host *host) {
    uint32_t keep_alive_s = host->keep_alive_s ? host->keep_alive_s : KEEP_ALIVE_S;
    return keep_alive_s > MARGIN_S ? keep_alive_s - MARGIN_S : 0;
}

/* ---- exchanges ---------------------------------------------------------------------------- */

static chute_exchange *take_exchange(struct http *http) {
    chute_exchange *x = http->spares;
    if (!x) return chute_exchange_new(&http->config);
    http->spares = x->next;
    return x;
}

static void give_exchange(struct http *http, chute_exchange *x) {
    chute_exchange_reset(x);
    x->next = http->spares;
    http->spares = x;
}

static void drop_active(struct http *http, chute_exchange *x) {
    chute_exchange **at = &http->active;
    while (*at != x) at = &(*at)->next;
    *at = x->next;
    x->next = NULL;
}

static void finish(struct http *http, chute_exchange *x, CURLcode result) {
    chute_request *request = x->request;
    chute_exchange_judge(x, result);
    if (x->keep_alive_s) request->host->keep_alive_s = x->keep_alive_s;
    curl_multi_remove_handle(http->multi, x->easy);
    drop_active(http, x);
    give_exchange(http, x);
    request->under_way = NULL;
    http->base.finished(http->base.context, request);
}

/* ---- the transport ------------------------------------------------------------------------ */

static void start(chute_transport *transport, chute_request *request) {
    struct http *http = (struct http *)transport;
    chute_exchange *x = take_exchange(http);
    int failed = x ? chute_exchange_prepare(x, request, idle_limit(request->host), &request->error)
                   : chute_fail(&request->error, CHUTE_E_NOMEM, "no memory for a request");
    if (!failed && curl_multi_add_handle(http->multi, x->easy))
        failed = chute_fail(&request->error, CHUTE_E_SYSTEM, "libcurl refused a request");
    if (!failed) {
        request->under_way = x;
        x->next = http->active;
        http->active = x;
        return;
    }
    if (x) give_exchange(http, x);
    transport->finished(transport->context, request);
}

static bool finish_some(struct http *http) {
    int left;
    bool some = false;
    for (CURLMsg *message; (message = curl_multi_info_read(http->multi, &left));) {
        if (message->msg != CURLMSG_DONE) continue;
        chute_exchange *x;
        CURLcode result = message->data.result;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &x);
        finish(http, x, result);
        some = true;
    }
    return some;
}

static bool finish_stalled(struct http *http) {
    bool some = false;
    for (chute_exchange *x = http->active, *next; x; x = next) {
        next = x->next;
        if (!chute_exchange_stalled(x)) continue;
        finish(http, x, CURLE_OPERATION_TIMEDOUT);
        some = true;
    }
    return some;
}

static void poll_multi(chute_transport *transport, uint32_t timeout_ms) {
    struct http *http = (struct http *)transport;
    int running;
    curl_multi_perform(http->multi, &running);
    if (finish_some(http) || finish_stalled(http)) return;
    if (http->active && timeout_ms > TICK_MS) timeout_ms = TICK_MS;
    curl_multi_poll(http->multi, NULL, 0, (int)timeout_ms, NULL);
}

static void wake(chute_transport *transport) {
    curl_multi_wakeup(((struct http *)transport)->multi);
}

static bool cancel(chute_transport *transport, chute_request *request) {
    struct http *http = (struct http *)transport;
    chute_exchange *x = request->under_way;
    bool left = x->attempts > 0;
    curl_multi_remove_handle(http->multi, x->easy);
    drop_active(http, x);
    if (request->stream)
        chute_exchange_free(x); /* it may rest, which the next request is not to inherit */
    else
        give_exchange(http, x);
    request->under_way = NULL;
    return left;
}

/* What had come already is given to the request before this returns. */
static void resume(chute_transport *transport, chute_request *request) {
    (void)transport;
    curl_easy_pause(((chute_exchange *)request->under_way)->easy, CURLPAUSE_CONT);
}

static void close_http(chute_transport *transport) {
    struct http *http = (struct http *)transport;
    while (http->spares) {
        chute_exchange *x = http->spares;
        http->spares = x->next;
        chute_exchange_free(x);
    }
    curl_multi_cleanup(http->multi);
    free(http);
}

chute_transport *chute_http_open(const struct chute_transport_config *config, chute_error *err) {
    static const struct chute_transport_ops ops = {start,  poll_multi, wake,
                                                   cancel, resume,     close_http};
    int failed = chute_process_curl();
    struct http *http = failed ? NULL : calloc(1, sizeof *http);
    if (!http || !(http->multi = curl_multi_init())) {
        free(http);
        chute_fail(err, CHUTE_E_SYSTEM, "libcurl does not start");
        return NULL;
    }
    http->base.ops = &ops;
    http->base.at_once = config->size;
    http->config = *config;
    curl_multi_setopt(http->multi, CURLMOPT_MAXCONNECTS, (long)config->size * config->hosts);
    return &http->base;
}
