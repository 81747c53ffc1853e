/* faultproxy: starts the parts, says where it listens, and waits to be ended.
 *
 *   faultproxy --upstream PORT [--address A.B.C.D] [--port N] [--unix PATH] [--certificates DIR]
 *              [--keep-alive SECONDS] [--receive-buffer BYTES] [--seed N]
 *
 * Prints "listening control=PORT plain=PORT [good=PORT wrong_name=PORT …]". --certificates: an
 * empty folder that certificates are made in, and a TLS port for each (see cert). SIGTERM and the
 * end of stdin end it.
 */
#include "faultproxy.h"

#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

struct fp_options fp_options = {.address = "127.0.0.1", .keep_alive_s = 30, .seed = 1};

static int number(const char *text, unsigned max, unsigned *out) {
    char *end;
    unsigned long n = strtoul(text, &end, 10);
    *out = (unsigned)n;
    return *end || end == text || n > max ? FP_FAILED : 0;
}

static int take_port(const char *text, uint16_t *out) {
    unsigned n;
    int failed = number(text, UINT16_MAX, &n);
    *out = (uint16_t)n;
    return failed;
}

static int take_option(int option, const char *value, uint16_t *upstream) {
    switch (option) {
    case 'u': return take_port(value, upstream);
    case 'p': return take_port(value, &fp_options.port);
    case 'a': fp_options.address = value; return 0;
    case 'x': fp_options.unix_path = value; return 0;
    case 'c': fp_options.certificates = value; return 0;
    case 'k': return number(value, 3600, &fp_options.keep_alive_s);
    case 'r': return number(value, 1 << 30, &fp_options.receive_buffer);
    case 's': return number(value, UINT32_MAX, &fp_options.seed);
    default: return FP_FAILED;
    }
}

static int parse(int argc, char **argv) {
    static const struct option OPTIONS[] = {
        {"upstream", required_argument, NULL, 'u'},
        {"address", required_argument, NULL, 'a'},
        {"port", required_argument, NULL, 'p'},
        {"unix", required_argument, NULL, 'x'},
        {"certificates", required_argument, NULL, 'c'},
        {"keep-alive", required_argument, NULL, 'k'},
        {"receive-buffer", required_argument, NULL, 'r'},
        {"seed", required_argument, NULL, 's'},
        {NULL, 0, NULL, 0},
    };
    int option;
    uint16_t upstream = 0;
    while ((option = getopt_long(argc, argv, "", OPTIONS, NULL)) >= 0)
        if (take_option(option, optarg, &upstream)) return FP_FAILED;
    fp_upstream_set(upstream);
    return upstream && optind == argc ? 0 : FP_FAILED;
}

static int block_signals(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    signal(SIGPIPE, SIG_IGN);
    if (pthread_sigmask(SIG_BLOCK, &set, NULL)) return -1;
    return signalfd(-1, &set, SFD_CLOEXEC);
}

static void wait_for_end(int signals) {
    struct pollfd fds[2] = {{signals, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
    for (;;) {
        if (poll(fds, 2, -1) < 0) continue;
        if (fds[0].revents) return;
        char ignored[256];
        if (fds[1].revents && read(STDIN_FILENO, ignored, sizeof ignored) <= 0) return;
    }
}

int main(int argc, char **argv) {
    if (parse(argc, argv)) {
        fputs("usage: faultproxy --upstream PORT [--address A.B.C.D] [--port N] [--unix PATH]\n"
              "                  [--certificates DIR] [--keep-alive SECONDS]\n"
              "                  [--receive-buffer BYTES] [--seed N]\n",
              stderr);
        return 2;
    }
    int signals = block_signals(), control = fp_control_start();
    if (fp_options.certificates) fp_certificates_make(fp_options.certificates);
    printf("listening control=%d", control);
    if (signals < 0 || control < 0 || fp_listen_start()) {
        fprintf(stderr, "faultproxy: cannot listen: %s\n", strerror(errno));
        return 1;
    }
    puts("");
    fflush(stdout);
    wait_for_end(signals);
    _exit(0); /* the threads are still at work: nothing is torn down under them */
}
