/* chdb: the transport to the engine in this process. A statement runs on the I/O thread to its
 * end: nothing is ever under way outside of start, and nothing can be cancelled. */
#include "transport.h"

#include "engine.h"
#include "error.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { ANSWER_MAX = 1 << 30 };

struct embedded {
    chute_transport base;
    uint32_t timeout_ms;
};

static void write_summary(chute_outcome *out, const struct chute_engine_counts *counts) {
    snprintf(out->summary, sizeof out->summary,
             "{\"read_rows\":\"%" PRIu64 "\",\"read_bytes\":\"%" PRIu64
             "\",\"written_rows\":\"%" PRIu64 "\",\"written_bytes\":\"%" PRIu64 "\"}",
             counts->read_rows, counts->read_bytes, counts->written_rows, counts->written_bytes);
}

static int run(const struct embedded *embedded, chute_request *request) {
    const chute_host *host = embedded->base.host;
    uint32_t timeout_ms = request->timeout_ms ? request->timeout_ms : embedded->timeout_ms;
    char seconds[16];
    chute_pair *settings = calloc(chute_host_settings_max(host, request) + 1, sizeof *settings);
    if (!settings) return chute_fail(&request->error, CHUTE_E_NOMEM, "no memory for a request");
    snprintf(seconds, sizeof seconds, "%" PRIu32, timeout_ms / 1000 + (timeout_ms % 1000 != 0));
    settings[0] = (chute_pair){"max_execution_time", seconds};
    struct chute_engine_statement statement = {
        .place = host->url.place,
        .database = host->url.database,
        .sql = request->sql,
        .sql_len = request->sql_len,
        .rows = request->rows,
        .rows_len = request->rows_len,
        .format = request->format ? request->format : "TabSeparated",
        .settings = settings,
        .settings_count = 1 + chute_host_settings(host, request, settings + 1),
        .params = request->params,
        .params_count = request->params_count,
    };
    struct chute_engine_counts counts = {0};
    request->outcome.body.limit = ANSWER_MAX;
    int failed = chute_engine_run(&statement, &request->outcome.body, &counts, &request->error);
    if (!failed) write_summary(&request->outcome, &counts);
    free(settings);
    return failed;
}

static void start(chute_transport *transport, chute_request *request) {
    run((struct embedded *)transport, request);
    transport->finished(transport->context, request);
}

static void close_chdb(chute_transport *transport) {
    chute_engine_close();
    free(transport);
}

chute_transport *chute_chdb_open(chute_host *host, const struct chute_transport_config *config,
                                 chute_error *err) {
    static const struct chute_transport_ops ops = {.start = start, .close = close_chdb};
    struct embedded *embedded = calloc(1, sizeof *embedded);
    if (!embedded) {
        chute_fail(err, CHUTE_E_NOMEM, "no memory for a pool");
        return NULL;
    }
    if (chute_engine_open(config->libchdb, host->url.path, err)) {
        free(embedded);
        return NULL;
    }
    embedded->base = (chute_transport){
        .ops = &ops, .host = host, .at_once = 1, .takes_raw = true, .takes_apart = true};
    embedded->timeout_ms = config->timeout_ms;
    host->knows = CHUTE_KNOWS_TOKEN;
    host->met = true;
    return &embedded->base;
}
