/* io: bytes over a socket or TLS, with waits that a reset of all connections ends. */
#include "faultproxy.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

int64_t fp_now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int fp_wait(struct fp_conn *conn, int fd, short events, int64_t ms) {
    struct pollfd fds[2] = {{fd, events, 0}, {conn->wake, POLLIN, 0}};
    int got = poll(fds, 2, (int)(ms > INT32_MAX ? INT32_MAX : ms));
    if (got < 0 || fds[1].revents) return FP_FAILED;
    return got > 0;
}

/* ---- TLS ------------------------------------------------------------------------------------ */

/* The events that a call of OpenSSL waits for; 0 where it failed or ended. */
static short wanted_events(SSL *ssl, int result) {
    switch (SSL_get_error(ssl, result)) {
    case SSL_ERROR_WANT_READ: return POLLIN;
    case SSL_ERROR_WANT_WRITE: return POLLOUT;
    default: return 0;
    }
}

int fp_handshake(struct fp_conn *conn) {
    conn->ssl = SSL_new(conn->tls);
    if (!conn->ssl || SSL_set_fd(conn->ssl, conn->fd) != 1) abort();
    for (;;) {
        ERR_clear_error();
        int result = SSL_accept(conn->ssl);
        if (result == 1) return 0;
        short events = wanted_events(conn->ssl, result);
        if (!events || fp_wait(conn, conn->fd, events, -1) < 0) return FP_FAILED;
    }
}

/* As recv; -1 with the events to wait for, or none. */
static ssize_t try_read(struct fp_conn *conn, void *to, size_t len, short *events) {
    *events = 0;
    if (!conn->ssl) {
        ssize_t got = recv(conn->fd, to, len, 0);
        if (got < 0 && errno == EAGAIN) *events = POLLIN;
        return got;
    }
    ERR_clear_error();
    int got = SSL_read(conn->ssl, to, (int)(len > 1 << 20 ? 1 << 20 : len));
    if (got > 0) return got;
    if (SSL_get_error(conn->ssl, got) == SSL_ERROR_ZERO_RETURN) return 0;
    *events = wanted_events(conn->ssl, got);
    return -1;
}

static ssize_t try_write(struct fp_conn *conn, const void *bytes, size_t len, short *events) {
    *events = 0;
    if (!conn->ssl) {
        ssize_t sent = send(conn->fd, bytes, len, MSG_NOSIGNAL);
        if (sent < 0 && errno == EAGAIN) *events = POLLOUT;
        return sent;
    }
    ERR_clear_error();
    int sent = SSL_write(conn->ssl, bytes, (int)(len > 1 << 20 ? 1 << 20 : len));
    if (sent > 0) return sent;
    *events = wanted_events(conn->ssl, sent);
    return -1;
}

/* ---- bytes ---------------------------------------------------------------------------------- */

ssize_t fp_read(struct fp_conn *conn, void *to, size_t len, int64_t ms) {
    for (;;) {
        short events;
        ssize_t got = try_read(conn, to, len, &events);
        if (got >= 0) return got;
        if (!events) return FP_FAILED;
        int ready = fp_wait(conn, conn->fd, events, ms);
        if (ready <= 0) return ready < 0 ? FP_FAILED : FP_TIMEOUT;
    }
}

ssize_t fp_fill(struct fp_conn *conn, size_t len, int64_t ms) {
    ch_buf_reserve(&conn->in, len);
    ssize_t got = fp_read(conn, conn->in.at + conn->in.len, len, ms);
    if (got > 0) conn->in.len += (size_t)got;
    return got;
}

void fp_consume(struct fp_conn *conn, size_t len) {
    conn->in.len -= len;
    memmove(conn->in.at, conn->in.at + len, conn->in.len);
}

int fp_write(struct fp_conn *conn, const void *bytes, size_t len) {
    const char *at = bytes;
    while (len > 0) {
        short events;
        ssize_t sent = try_write(conn, at, len, &events);
        if (sent > 0) {
            at += sent;
            len -= (size_t)sent;
        } else if (!events || fp_wait(conn, conn->fd, events, -1) < 0) {
            return FP_FAILED;
        }
    }
    return 0;
}

/* ---- pauses --------------------------------------------------------------------------------- */

bool fp_left(struct fp_conn *conn) {
    struct pollfd fd = {conn->fd, POLLRDHUP, 0};
    return poll(&fd, 1, 0) != 0;
}

int fp_pause(struct fp_conn *conn, int64_t ms) {
    return fp_wait(conn, -1, 0, ms);
}

/* Every holder polls a copy of the reading end; closing the writing end wakes them all. */
static struct {
    pthread_mutex_t lock;
    int ends[2];
} gate = {PTHREAD_MUTEX_INITIALIZER, {-1, -1}};

static void make_gate(void) {
    if (pipe2(gate.ends, O_CLOEXEC)) abort();
}

void fp_release(void) {
    pthread_mutex_lock(&gate.lock);
    if (gate.ends[0] >= 0) {
        close(gate.ends[0]);
        close(gate.ends[1]);
        make_gate();
    }
    pthread_mutex_unlock(&gate.lock);
}

int fp_hold(struct fp_conn *conn) {
    pthread_mutex_lock(&gate.lock);
    if (gate.ends[0] < 0) make_gate();
    int copy = fcntl(gate.ends[0], F_DUPFD_CLOEXEC, 0);
    pthread_mutex_unlock(&gate.lock);
    if (copy < 0) abort();
    fp_count(FP_C_held, 1);
    struct pollfd fds[3] = {{copy, POLLIN, 0}, {conn->wake, POLLIN, 0}, {conn->fd, POLLRDHUP, 0}};
    while (poll(fds, 3, -1) < 0 && errno == EINTR) continue;
    close(copy);
    return fds[1].revents || fds[2].revents ? FP_FAILED : 0;
}

/* ---- ends ----------------------------------------------------------------------------------- */

/* Whether it is to be reset. */
static bool is_doomed(struct fp_conn *conn) {
    struct pollfd fd = {conn->wake, POLLIN, 0};
    return poll(&fd, 1, 0) > 0;
}

static void drop(struct fp_conn *conn) {
    SSL_free(conn->ssl);
    conn->ssl = NULL;
    close(conn->fd);
    conn->fd = -1;
}

void fp_reset(struct fp_conn *conn) {
    static const struct linger NOW = {1, 0};
    if (conn->fd < 0) return;
    setsockopt(conn->fd, SOL_SOCKET, SO_LINGER, &NOW, sizeof NOW);
    drop(conn);
}

void fp_close(struct fp_conn *conn) {
    if (is_doomed(conn)) fp_reset(conn);
    if (conn->fd < 0) return;
    if (conn->ssl) SSL_shutdown(conn->ssl);
    drop(conn);
}

/* Closing a socket with unread bytes sends RST, which can overtake the answer. */
void fp_close_late(struct fp_conn *conn) {
    enum { PATIENCE_MS = 2000 };
    static const size_t STEP = 1 << 16;
    if (is_doomed(conn)) fp_reset(conn);
    if (conn->fd < 0) return;
    if (conn->ssl) SSL_shutdown(conn->ssl);
    shutdown(conn->fd, SHUT_WR);
    char *ignored = malloc(STEP);
    int64_t until = fp_now_ms() + PATIENCE_MS, left;
    while (ignored && (left = until - fp_now_ms()) > 0) {
        if (fp_wait(conn, conn->fd, POLLIN, left) <= 0) break;
        ssize_t got = recv(conn->fd, ignored, STEP, 0);
        if (got == 0 || (got < 0 && errno != EAGAIN)) break;
    }
    free(ignored);
    drop(conn);
}
