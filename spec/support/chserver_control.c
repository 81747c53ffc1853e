/* control: what specs ask the server about itself, under /_control/.
 *
 *   /_control/counters            {"connections":…,"requests":…,"posts":…,"body_bytes":…,
 *                                  "written_rows":…,"failures":…,"running":…}
 *   /_control/query?query_id=ID   {"requests":…,"body_bytes":…,"written_rows":…,"status":…}
 *                                 of the requests with that query_id; all 0 where none came
 *
 * Counts are of requests whose SQL was reached (credentials fine, body whole); body_bytes as they
 * came over the wire.
 */
#include "chserver.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct seen {
    char *query_id;
    unsigned running, status; /* status: of the last answer */
    uint64_t requests, body_bytes, written_rows;
    struct seen *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct seen *all;
static struct {
    uint64_t connections, requests, posts, body_bytes, written_rows, failures, running;
} total;

static struct seen *find(const char *query_id) {
    struct seen *seen = all;
    while (seen && strcmp(seen->query_id, query_id) != 0) seen = seen->next;
    return seen;
}

static struct seen *find_or_add(const char *query_id) {
    struct seen *seen = find(query_id);
    if (seen) return seen;
    seen = calloc(1, sizeof *seen);
    if (!seen || !(seen->query_id = strdup(query_id))) abort();
    seen->next = all;
    return all = seen;
}

bool ch_control_begin(const char *query_id, bool post, size_t body_bytes) {
    pthread_mutex_lock(&lock);
    struct seen *seen = find_or_add(query_id);
    bool fresh = seen->running == 0;
    seen->running++;
    seen->requests++;
    seen->body_bytes += body_bytes;
    total.running++;
    total.requests++;
    total.posts += post;
    total.body_bytes += body_bytes;
    pthread_mutex_unlock(&lock);
    return fresh;
}

void ch_control_end(const char *query_id, unsigned status, uint64_t written_rows) {
    pthread_mutex_lock(&lock);
    struct seen *seen = find_or_add(query_id);
    seen->running--;
    seen->status = status;
    seen->written_rows += written_rows;
    total.running--;
    total.written_rows += written_rows;
    total.failures += status != 200;
    pthread_mutex_unlock(&lock);
}

void ch_control_connection(void) {
    pthread_mutex_lock(&lock);
    total.connections++;
    pthread_mutex_unlock(&lock);
}

static void print_counters(struct ch_buf *out) {
    ch_buf_print(out,
                 "{\"connections\":%lu,\"requests\":%lu,\"posts\":%lu,\"body_bytes\":%lu,"
                 "\"written_rows\":%lu,\"failures\":%lu,\"running\":%lu}\n",
                 total.connections, total.requests, total.posts, total.body_bytes,
                 total.written_rows, total.failures, total.running);
}

static void print_query(const char *query_id, struct ch_buf *out) {
    static const struct seen none;
    const struct seen *seen = find(query_id);
    if (!seen) seen = &none;
    ch_buf_print(out, "{\"requests\":%lu,\"body_bytes\":%lu,\"written_rows\":%lu,\"status\":%u}\n",
                 seen->requests, seen->body_bytes, seen->written_rows, seen->status);
}

bool ch_control_answer(const char *path, const char *query_id, struct ch_buf *out) {
    pthread_mutex_lock(&lock);
    bool known = true;
    if (strcmp(path, "/_control/counters") == 0)
        print_counters(out);
    else if (strcmp(path, "/_control/query") == 0)
        print_query(query_id, out);
    else
        known = false;
    pthread_mutex_unlock(&lock);
    return known;
}
