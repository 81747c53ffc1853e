/* listen: the ports, which can refuse, and the connections that are open.
 *
 * A second socket stays bound to each port without listening, so that a refusing port is nobody
 * else's and comes back as it was.
 */
#include "faultproxy.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { MAX_LISTENERS = 2 + FP_CERTIFICATES, FILLERS = 4, STACK_BYTES = 256 << 10 };

struct listener {
    const char *name;     /* "plain", "unix", or a certificate's */
    SSL_CTX *tls;         /* or NULL */
    int fd, guard;        /* fd: -1 while it refuses */
    uint16_t port;        /* 0: a unix socket */
    int fillers[FILLERS]; /* connections that take up a full queue; -1 */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct listener listeners[MAX_LISTENERS];
static size_t count;
static enum fp_mode mode;
static int changed; /* an eventfd: the set of listening sockets is another */
static struct fp_conn *open_conns;
static uint64_t connections;

/* ---- connections ---------------------------------------------------------------------------- */

/* Under the lock. */
static struct fp_conn *add_conn(int fd, const struct listener *from) {
    struct fp_conn *conn = calloc(1, sizeof *conn);
    if (!conn) abort();
    *conn = (struct fp_conn){.fd = fd,
                             .wake = eventfd(0, EFD_CLOEXEC),
                             .tls = from->tls,
                             .listener = from->name,
                             .id = ++connections,
                             .idle_ms = -1,
                             .next = open_conns};
    if (conn->wake < 0) abort();
    if (open_conns) open_conns->before = conn;
    return open_conns = conn;
}

static void forget_conn(struct fp_conn *conn) {
    pthread_mutex_lock(&lock);
    if (conn->next) conn->next->before = conn->before;
    if (conn->before)
        conn->before->next = conn->next;
    else
        open_conns = conn->next;
    pthread_mutex_unlock(&lock);
    close(conn->wake);
    ch_buf_free(&conn->in);
    free(conn);
}

static void *serve(void *arg) {
    struct fp_conn *conn = arg;
    fp_serve(conn);
    forget_conn(conn);
    fp_count(FP_C_open, -1);
    return NULL;
}

static void start_conn(struct fp_conn *conn) {
    static const int ONE = 1;
    pthread_attr_t attributes;
    pthread_t thread;
    setsockopt(conn->fd, IPPROTO_TCP, TCP_NODELAY, &ONE, sizeof ONE);
    fp_count(FP_C_connections, 1);
    fp_count(FP_C_open, 1);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    if (pthread_create(&thread, &attributes, serve, conn)) abort();
    pthread_attr_destroy(&attributes);
}

/* Under the lock. */
static void reset_conns(void) {
    static const uint64_t ONE = 1;
    for (struct fp_conn *conn = open_conns; conn; conn = conn->next)
        if (write(conn->wake, &ONE, sizeof ONE) < 0) abort();
}

void fp_reset_all(void) {
    pthread_mutex_lock(&lock);
    reset_conns();
    pthread_mutex_unlock(&lock);
}

/* ---- ports ---------------------------------------------------------------------------------- */

static struct sockaddr_in address_of(uint16_t port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    if (inet_pton(AF_INET, fp_options.address, &address.sin_addr) != 1)
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

static int bind_port(uint16_t port) {
    static const int ONE = 1;
    struct sockaddr_in address = address_of(port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int bytes = (int)fp_options.receive_buffer;
    if (fd < 0) abort();
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &ONE, sizeof ONE);
    setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &ONE, sizeof ONE);
    if (bytes) setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) == 0) return fd;
    close(fd);
    return FP_FAILED;
}

static int bind_unix(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", fp_options.unix_path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    unlink(address.sun_path);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0) return fd;
    close(fd);
    return FP_FAILED;
}

/* A queue of one, and connections of our own waiting in it: what else comes is not even refused. */
static void fill(struct listener *at) {
    struct sockaddr_in address = address_of(at->port);
    for (int i = 0; i < FILLERS; i++) {
        at->fillers[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (at->fillers[i] < 0) abort();
        (void)!connect(at->fillers[i], (struct sockaddr *)&address, sizeof address);
    }
}

static void shut(struct listener *at) {
    for (int i = 0; i < FILLERS; i++)
        if (at->fillers[i] >= 0) close(at->fillers[i]), at->fillers[i] = -1;
    if (at->fd < 0) return;
    shutdown(at->fd, SHUT_RDWR); /* refuses from now on, though another thread polls it */
    close(at->fd);
    at->fd = -1;
}

static int set_mode(struct listener *at, enum fp_mode to) {
    shut(at);
    if (to == FP_REFUSE) return 0;
    at->fd = at->port ? bind_port(at->port) : bind_unix();
    if (at->fd < 0 || listen(at->fd, to == FP_FULL ? 0 : SOMAXCONN)) return FP_FAILED;
    if (to == FP_FULL && at->port) fill(at);
    return 0;
}

int fp_listen_mode(enum fp_mode to, bool reset) {
    static const uint64_t ONE = 1;
    int failed = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < count && !failed; i++) failed = set_mode(&listeners[i], to);
    mode = to;
    if (reset) reset_conns();
    pthread_mutex_unlock(&lock);
    if (write(changed, &ONE, sizeof ONE) < 0) abort();
    return failed;
}

/* ---- accepting ------------------------------------------------------------------------------ */

static void accept_all(struct listener *at) {
    pthread_mutex_lock(&lock);
    while (at->fd >= 0 && mode == FP_OPEN) {
        int fd = accept4(at->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) break;
        struct fp_conn *conn = add_conn(fd, at);
        start_conn(conn);
    }
    pthread_mutex_unlock(&lock);
}

static void *accept_forever(void *arg) {
    (void)arg;
    for (;;) {
        struct pollfd fds[MAX_LISTENERS + 1] = {{changed, POLLIN, 0}};
        pthread_mutex_lock(&lock);
        for (size_t i = 0; i < count; i++)
            fds[i + 1] = (struct pollfd){mode == FP_OPEN ? listeners[i].fd : -1, POLLIN, 0};
        pthread_mutex_unlock(&lock);
        uint64_t ignored;
        if (poll(fds, (nfds_t)count + 1, -1) < 0) continue;
        if (fds[0].revents && read(changed, &ignored, sizeof ignored) < 0) abort();
        for (size_t i = 0; i < count; i++)
            if (fds[i + 1].revents) accept_all(&listeners[i]);
    }
    return NULL;
}

/* ---- the start ------------------------------------------------------------------------------ */

static int add_listener(const char *name, SSL_CTX *tls, uint16_t port) {
    struct listener *at = &listeners[count];
    *at = (struct listener){.name = name, .tls = tls, .fd = -1, .guard = -1};
    for (int i = 0; i < FILLERS; i++) at->fillers[i] = -1;
    if (strcmp(name, "unix") != 0) {
        struct sockaddr_in bound;
        socklen_t len = sizeof bound;
        at->guard = bind_port(port);
        if (at->guard < 0 || getsockname(at->guard, (struct sockaddr *)&bound, &len))
            return FP_FAILED;
        at->port = ntohs(bound.sin_port);
        printf(" %s=%u", name, at->port);
    }
    count++;
    return set_mode(at, FP_OPEN);
}

static int add_all(void) {
    if (add_listener("plain", NULL, fp_options.port)) return FP_FAILED;
    if (fp_options.unix_path && add_listener("unix", NULL, 0)) return FP_FAILED;
    for (int i = 0; fp_options.certificates && i < FP_CERTIFICATES; i++) {
        SSL_CTX *tls = fp_tls_context(fp_options.certificates, fp_certificate_names[i]);
        if (!tls || add_listener(fp_certificate_names[i], tls, 0)) return FP_FAILED;
    }
    return 0;
}

int fp_listen_start(void) {
    pthread_t thread;
    changed = eventfd(0, EFD_CLOEXEC);
    if (changed < 0 || add_all()) return FP_FAILED;
    return pthread_create(&thread, NULL, accept_forever, NULL) ? FP_FAILED : 0;
}
