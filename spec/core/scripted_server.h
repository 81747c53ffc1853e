/* scripted_server: an HTTP server in the test's own process that does at each request what the
 * test says. */
#ifndef SCRIPTED_SERVER_H
#define SCRIPTED_SERVER_H

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { REQUEST_MAX = 1 << 16 };

/* What it does with the requests that are no question about settings, one after the other; the
 * last one goes on for ever. */
enum { FINE, REFUSE, HANG_UP, STALL, LEAVE };

static struct {
    int fd;
    uint16_t port;
    pthread_t thread;
    _Atomic int script[8];
    _Atomic unsigned at;      /* in the script */
    _Atomic unsigned posts;   /* inserts that arrived whole */
    _Atomic unsigned asked;   /* questions about settings */
    _Atomic bool hosts_known; /* answer those, or fail them */
    pthread_mutex_t lock;     /* one request at a time; of `last` */
    char last[REQUEST_MAX];   /* the last request */
} server = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void say(int fd, const char *status, const char *headers, const char *body) {
    char text[1024];
    int len = snprintf(text, sizeof text,
                       "HTTP/1.1 %s\r\nX-ClickHouse-Query-Id: q\r\nKeep-Alive: timeout=10\r\n%s"
                       "Content-Length: %zu\r\n\r\n%s",
                       status, headers, strlen(body), body);
    if (send(fd, text, (size_t)len, MSG_NOSIGNAL) != len) return;
}

/* Reads one whole request into server.last. False: the connection ended. */
static bool read_request(int fd) {
    size_t len = 0;
    for (;;) {
        ssize_t n = recv(fd, server.last + len, REQUEST_MAX - 1 - len, 0);
        if (n <= 0) return false;
        len += (size_t)n;
        server.last[len] = '\0';
        const char *end = memmem(server.last, len, "\r\n\r\n", 4);
        const char *size = strcasestr(server.last, "\r\nContent-Length: ");
        if (!end) continue;
        size_t body = size && size < end ? strtoul(size + 18, NULL, 10) : 0;
        if ((size_t)(end + 4 - server.last) + body <= len) return true;
    }
}

static int next_act(void) {
    unsigned at = server.at;
    int act = server.script[at];
    if (server.script[at + 1] >= 0) server.at++;
    return act;
}

/* Waits for the client to go away. */
static void outlast(int fd) {
    char byte;
    while (recv(fd, &byte, 1, 0) > 0) {
    }
}

/* Whether the connection is kept. */
enum { KEEP, DROP, OUTLAST };

static int act_on_request(int fd) {
    if (strstr(server.last, "system.settings")) {
        server.asked++;
        if (server.hosts_known)
            say(fd, "200 OK", "", "26.5.1.1\t['async_insert','insert_deduplication_token']\n");
        else
            say(fd, "500 No", "X-ClickHouse-Exception-Code: 202\r\n",
                "Code: 202. DB::Exception: Too many. (TOO_MANY_SIMULTANEOUS_QUERIES)");
        return KEEP;
    }
    if (strncmp(server.last, "GET /ping", 9) == 0) {
        say(fd, "200 OK", "", "Ok.\n");
        return KEEP;
    }
    if (strstr(server.last, "INSERT")) server.posts++;
    switch (next_act()) {
    case FINE: say(fd, "200 OK", "", ""); return KEEP;
    case REFUSE:
        say(fd, "404 No", "X-ClickHouse-Exception-Code: 60\r\n",
            "Code: 60. DB::Exception: No table. (UNKNOWN_TABLE)");
        return KEEP;
    case LEAVE: say(fd, "200 OK", "", ""); return DROP;
    case STALL: return OUTLAST;
    default: return DROP;
    }
}

static void *serve_one(void *arg) {
    int fd = (int)(intptr_t)arg, then = KEEP;
    while (then == KEEP) {
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        poll(&wait, 1, -1);
        pthread_mutex_lock(&server.lock);
        then = read_request(fd) ? act_on_request(fd) : DROP;
        pthread_mutex_unlock(&server.lock);
    }
    if (then == OUTLAST) outlast(fd);
    close(fd);
    return NULL;
}

static void *serve(void *arg) {
    (void)arg;
    for (;;) {
        int fd = accept(server.fd, NULL, NULL);
        if (fd < 0) return NULL;
        pthread_t thread;
        pthread_create(&thread, NULL, serve_one, (void *)(intptr_t)fd);
        pthread_detach(thread);
    }
}

static void start_server(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    server.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bind(server.fd, (struct sockaddr *)&address, sizeof address);
    listen(server.fd, 64);
    getsockname(server.fd, (struct sockaddr *)&address, &len);
    server.port = ntohs(address.sin_port);
    pthread_create(&server.thread, NULL, serve, NULL);
}

/* Up to three acts; FINE for what follows them is to be said. */
static void script(int first, int second, int third) {
    server.script[0] = first;
    server.script[1] = second;
    server.script[2] = third;
    server.script[3] = -1;
    server.at = server.posts = server.asked = 0;
    server.hosts_known = true;
}

/* Whether the last request has this text. */
static bool saw(const char *text) {
    pthread_mutex_lock(&server.lock);
    bool found = strstr(server.last, text) != NULL;
    pthread_mutex_unlock(&server.lock);
    return found;
}

#endif
