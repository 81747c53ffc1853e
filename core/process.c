#include "process.h"

#include <curl/curl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic uint32_t generation = 1;

static void count_fork(void) {
    atomic_fetch_add_explicit(&generation, 1, memory_order_relaxed);
}

static void watch_forks(void) {
    pthread_atfork(NULL, NULL, count_fork);
}

uint32_t chute_process_generation(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    return atomic_load_explicit(&generation, memory_order_relaxed);
}

static CURLcode curl_answer;

static void start_curl(void) {
    curl_answer = curl_global_init(CURL_GLOBAL_DEFAULT);
}

int chute_process_curl(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, start_curl);
    return (int)curl_answer;
}

static void (*_Atomic at_exit[CHUTE_EXIT_PHASES])(void);

/* exit() runs its handlers from the last registered to the first: the one registered last runs
 * every phase, and leaves nothing to the others. */
static void run_phases(void) {
    for (int phase = 0; phase < CHUTE_EXIT_PHASES; phase++) {
        void (*run)(void) = atomic_exchange(&at_exit[phase], NULL);
        if (run) run();
    }
}

void chute_process_at_exit(int phase, void (*run)(void)) {
    if (atomic_exchange(&at_exit[phase], run) != run) atexit(run_phases);
}

int chute_process_start(pthread_t *thread, void *(*run)(void *), void *argument, const char *name) {
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    sigset_t blocked, before;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) sigdelset(&blocked, own[i]);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    int rc = pthread_create(thread, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc == 0) pthread_setname_np(*thread, name);
    return rc;
}
