/* control: what specs order and ask, over HTTP on a port of its own.
 *
 *   POST /rules             adds rules, one a line; their numbers. 400 where one is not understood
 *   GET, DELETE /rules      {"id":…,"seen":…,"fired":…} a line; forgets them
 *   GET /requests?from=N    a line of JSON for each request after the first N; see print_record
 *   GET /counters           {"connections":…, …}: see fp_counter
 *   GET /await?counter=NAME&count=N&ms=T[&most=1]   the counters once NAME is at least (at most) N;
 *                           408 with them after T
 *   POST /listen?mode=open|refuse|full[&reset=1]    full: connecting hangs
 *   POST /reset             resets every connection
 *   POST /release           lets go of what hold holds
 *   POST /upstream?port=N   another server from the next request on
 *   POST /forget            counters to 0 (but open), no request logged
 *
 * A rule's words. When (all must hold): kind=insert|query|ping|other, listener=NAME, contains=TEXT
 * (in the request's head), reused=1|0 (a connection that served a request before); of what these
 * match: nth=N, every=K, after=N, times=N at most, percent=P. The first rule that fires has the
 * request.
 * Where: at=accept|first|head|body|request|answer. accept: before a byte, or TLS; first: the first
 * byte came; body: `bytes` of it came, or half; request (the default): it came whole; answer: the
 * server has answered it. accept and first know no kind.
 * What: action=reset|close|hold|pause (for ms) there; or an answer instead of the server's (at
 * answer: after the server's): status=N reason= header= (lines) body= size=N (bytes of body, by
 * repetition) framing=length|short|chunked|trailers|unended|broken|until_close trailer= http10=1,
 * or raw= bytes. Of an answer, ours or at=answer the server's: cut=N|end: the action comes after N
 * bytes (of the server's answer 0 by default; of ours: 0 for hold and pause, else end); step=N
 * bytes at a time, step_ms apart; interim=100,… before it; advertise=N in Keep-Alive (0: none),
 * idle_ms=N until the connection closes, connection=close; header= is added to the server's.
 * read_rate=N: bytes a second the body is read at. expect=once|twice|late (after ms)|never: how
 * Expect: 100-continue is answered. label=TEXT: in the log.
 */
#include "faultproxy.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PATIENCE_MS = 5000, STEP_BYTES = 1 << 16 };

struct order {
    struct fp_head head;
    const char *body;
    size_t body_len;
    struct ch_buf out;
    unsigned status;
};

static int64_t number(const struct order *order, const char *name) {
    char value[32];
    return fp_param(&order->head, name, value, sizeof value) ? strtoll(value, NULL, 10) : 0;
}

static void do_rules(struct order *order) {
    switch (order->head.text[0]) {
    case 'P':
        if (fp_rules_add(order->body, order->body_len, &order->out)) order->status = 400;
        return;
    case 'D': fp_rules_clear(); return;
    default: fp_rules_print(&order->out);
    }
}

static void do_requests(struct order *order) {
    fp_log_print((uint64_t)number(order, "from"), &order->out);
}

static void do_counters(struct order *order) {
    fp_counters_print(&order->out);
}

static void do_await(struct order *order) {
    char name[32];
    fp_param(&order->head, "counter", name, sizeof name);
    int reached =
        fp_await(name, number(order, "count"), number(order, "most") > 0, number(order, "ms"));
    if (reached <= 0) order->status = reached ? 400 : 408;
    fp_counters_print(&order->out);
}

static void do_listen(struct order *order) {
    char name[16];
    fp_param(&order->head, "mode", name, sizeof name);
    enum fp_mode mode = strcmp(name, "open") == 0     ? FP_OPEN
                        : strcmp(name, "refuse") == 0 ? FP_REFUSE
                                                      : FP_FULL;
    if (fp_listen_mode(mode, number(order, "reset") > 0)) order->status = 500;
}

static void do_reset(struct order *order) {
    (void)order;
    fp_reset_all();
}

static void do_release(struct order *order) {
    (void)order;
    fp_release();
}

static void do_upstream(struct order *order) {
    fp_upstream_set((uint16_t)number(order, "port"));
}

static void do_forget(struct order *order) {
    (void)order;
    fp_log_forget();
}

static void obey(struct order *order) {
    static const struct {
        const char *path;
        void (*obey)(struct order *);
    } PATHS[] = {
        {"/rules", do_rules},     {"/requests", do_requests}, {"/counters", do_counters},
        {"/await", do_await},     {"/listen", do_listen},     {"/reset", do_reset},
        {"/release", do_release}, {"/upstream", do_upstream}, {"/forget", do_forget},
    };
    const char *mark = memchr(order->head.target, '?', order->head.target_len);
    size_t len = mark ? (size_t)(mark - order->head.target) : order->head.target_len;
    order->status = 404;
    for (size_t i = 0; i < sizeof PATHS / sizeof *PATHS; i++) {
        if (strlen(PATHS[i].path) != len || memcmp(PATHS[i].path, order->head.target, len) != 0)
            continue;
        order->status = 200;
        PATHS[i].obey(order);
        return;
    }
}

static int read_order(struct fp_conn *conn, struct order *order) {
    size_t head;
    while (!(head = fp_head_end(conn->in.at, conn->in.len)))
        if (fp_fill(conn, STEP_BYTES, PATIENCE_MS) <= 0) return FP_FAILED;
    if (fp_head_parse(&order->head, conn->in.at, head)) return FP_FAILED;
    size_t whole = head + order->head.length;
    while (conn->in.len < whole)
        if (fp_fill(conn, STEP_BYTES, PATIENCE_MS) <= 0) return FP_FAILED;
    fp_head_parse(&order->head, conn->in.at, head); /* the bytes may have moved */
    order->body = conn->in.at + head;
    order->body_len = order->head.length;
    return 0;
}

static void *serve(void *arg) {
    struct fp_conn conn = {.fd = (int)(intptr_t)arg, .wake = -1};
    struct order order = {0};
    if (read_order(&conn, &order) == 0) {
        struct ch_buf head = {0};
        obey(&order);
        ch_buf_print(&head,
                     "HTTP/1.1 %u Whatever\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n",
                     order.status, order.out.len);
        if (fp_write(&conn, head.at, head.len) == 0)
            (void)fp_write(&conn, order.out.at, order.out.len);
        ch_buf_free(&head);
    }
    fp_close(&conn);
    ch_buf_free(&order.out);
    ch_buf_free(&conn.in);
    return NULL;
}

static void *accept_forever(void *arg) {
    int listener = (int)(intptr_t)arg;
    for (;;) {
        pthread_t thread;
        int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) continue;
        if (pthread_create(&thread, NULL, serve, (void *)(intptr_t)fd)) abort();
        pthread_detach(thread);
    }
    return NULL;
}

int fp_control_start(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof address;
    pthread_t thread;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, len) || listen(fd, SOMAXCONN) ||
        getsockname(fd, (struct sockaddr *)&address, &len) ||
        pthread_create(&thread, NULL, accept_forever, (void *)(intptr_t)fd))
        return FP_FAILED;
    return ntohs(address.sin_port);
}
