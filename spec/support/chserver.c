/* chserver: starts the parts, says "listening PORT" and waits to be ended.
 *
 *   chserver --path DIR [--libchdb FILE] [--port N] [--user NAME --password TEXT]
 *            [--keep-alive SECONDS] [--exit-with-stdin]
 *
 * libchdb is found by --libchdb, else by the environment's CHUTE_LIBCHDB. SIGTERM and SIGINT end
 * it cleanly, and so does the end of stdin under --exit-with-stdin: no orphan stays behind.
 */
#include "chserver.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <microhttpd.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

struct arguments {
    struct ch_options options;
    const char *path, *library;
    bool exit_with_stdin;
};

static int number(const char *text, unsigned long max, unsigned long *out) {
    char *end;
    errno = 0;
    *out = strtoul(text, &end, 10);
    return errno || *end || end == text || *out > max ? -1 : 0;
}

static int take_option(struct arguments *args, int option, const char *value) {
    unsigned long n = 0;
    switch (option) {
    case 'd': args->path = value; return 0;
    case 'l': args->library = value; return 0;
    case 'u': args->options.user = value; return 0;
    case 'w': args->options.password = value; return 0;
    case 'x': args->exit_with_stdin = true; return 0;
    case 'p':
        if (number(value, UINT16_MAX, &n)) return -1;
        args->options.port = (uint16_t)n;
        return 0;
    case 'k':
        if (number(value, 3600, &n)) return -1;
        args->options.keep_alive_s = (unsigned)n;
        return 0;
    default: return -1;
    }
}

static int parse(int argc, char **argv, struct arguments *args) {
    static const struct option OPTIONS[] = {
        {"path", required_argument, NULL, 'd'},      {"libchdb", required_argument, NULL, 'l'},
        {"port", required_argument, NULL, 'p'},      {"user", required_argument, NULL, 'u'},
        {"password", required_argument, NULL, 'w'},  {"keep-alive", required_argument, NULL, 'k'},
        {"exit-with-stdin", no_argument, NULL, 'x'}, {NULL, 0, NULL, 0},
    };
    int option;
    while ((option = getopt_long(argc, argv, "", OPTIONS, NULL)) >= 0)
        if (take_option(args, option, optarg)) return -1;
    return args->path && args->library && optind == argc ? 0 : -1;
}

/* Blocked here and so in every thread to come; libchdb's included. */
static int block_signals(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    signal(SIGPIPE, SIG_IGN);
    if (pthread_sigmask(SIG_BLOCK, &set, NULL)) return -1;
    return signalfd(-1, &set, SFD_CLOEXEC);
}

/* Takes stdin away from libchdb, which may read and close it; -1 on failure. */
static int take_stdin(void) {
    int kept = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3), null = open("/dev/null", O_RDONLY);
    if (kept < 0 || null < 0 || dup2(null, STDIN_FILENO) < 0) return -1;
    close(null);
    return kept;
}

static void wait_for_end(int signals, int watched) {
    struct pollfd fds[2] = {{signals, POLLIN, 0}, {watched, POLLIN, 0}};
    for (;;) {
        if (poll(fds, 2, -1) < 0) continue;
        if (fds[0].revents) return;
        char ignored[256];
        if (fds[1].revents && read(watched, ignored, sizeof ignored) <= 0) return;
    }
}

static int serve(const struct arguments *args, int signals, int watched) {
    struct MHD_Daemon *daemon = ch_http_start(&args->options);
    if (!daemon) return fprintf(stderr, "chserver: cannot listen: %s\n", strerror(errno)), 1;
    printf("listening %u\n", MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT)->port);
    fflush(stdout);
    wait_for_end(signals, watched);
    MHD_stop_daemon(daemon);
    return 0;
}

int main(int argc, char **argv) {
    struct arguments args = {.options = {.password = "", .keep_alive_s = 30},
                             .library = getenv("CHUTE_LIBCHDB")};
    if (parse(argc, argv, &args)) {
        fputs(
            "usage: chserver --path DIR [--libchdb FILE] [--port N] [--user NAME --password TEXT]\n"
            "                [--keep-alive SECONDS] [--exit-with-stdin]\n",
            stderr);
        return 2;
    }
    int signals = block_signals();
    int watched = args.exit_with_stdin ? take_stdin() : -1; /* poll passes over -1 */
    if (signals < 0 || (args.exit_with_stdin && watched < 0) ||
        ch_engine_open(args.library, args.path))
        return 1;
    int code = serve(&args, signals, watched);
    ch_engine_close();
    return code;
}
