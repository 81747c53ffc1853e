#include "registry.h"

#include "process.h"
#include "stream.h"

#include <stdlib.h>
#include <time.h>

enum { EXIT_MS = 5000, LOOK_NS = 1000000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static chute_stream *streams; /* all there are, left ones too; under `lock` */

static void unlist(const chute_stream *stream) {
    pthread_mutex_lock(&lock);
    for (chute_stream **at = &streams; *at; at = &(*at)->next)
        if (*at == stream) {
            *at = stream->next;
            break;
        }
    pthread_mutex_unlock(&lock);
}

/* ---- the end of the process ----------------------------------------------------------------- */

static bool is_going(chute_stream *stream) {
    chute_stream_lock(stream);
    bool going = stream->stats.batches_in_flight > 0 || (stream->left && !stream->departed);
    chute_stream_unlock(stream);
    return going;
}

static bool any_is_going(void) {
    bool any = false;
    pthread_mutex_lock(&lock);
    for (chute_stream *stream = streams; stream && !any; stream = stream->next)
        any = is_going(stream);
    pthread_mutex_unlock(&lock);
    return any;
}

/* os.exit and the end of main come here: what was accepted gets its chance to arrive. */
static void drain_all(void) {
    uint64_t until = chute_stream_now() + EXIT_MS;
    pthread_mutex_lock(&lock);
    for (chute_stream *stream = streams; stream; stream = stream->next) chute_stream_shut(stream);
    pthread_mutex_unlock(&lock);
    while (any_is_going() && chute_stream_now() < until)
        nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
}

/* ---- forks ---------------------------------------------------------------------------------- */

static void before_fork(void) {
    pthread_mutex_lock(&lock);
}

static void in_parent(void) {
    pthread_mutex_unlock(&lock);
}

/* The parent's streams are no streams here. */
static void in_child(void) {
    pthread_mutex_init(&lock, NULL);
    for (chute_stream *stream = streams; stream; stream = stream->next) chute_stream_orphan(stream);
    streams = NULL;
}

/* ---- streams that come and go ---------------------------------------------------------------- */

static void watch_process(void) {
    pthread_atfork(before_fork, in_parent, in_child);
    chute_process_at_exit(CHUTE_EXIT_DRAIN, drain_all);
}

void chute_registry_add(chute_stream *stream) {
    pthread_once(&once, watch_process);
    pthread_mutex_lock(&lock);
    stream->next = streams;
    streams = stream;
    pthread_mutex_unlock(&lock);
}

void chute_registry_leave(chute_stream *stream) {
    if (stream->forked) return;
    chute_stream_lock(stream);
    stream->left = true;
    bool departed = stream->departed;
    chute_stream_unlock(stream);
    if (!departed) {
        chute_stream_kick(stream);
        return;
    }
    unlist(stream);
    chute_stream_release(stream);
}

void chute_registry_bury(chute_stream *stream) {
    pthread_detach(stream->flusher);
    chute_pool_close(stream->pool);
    chute_stream_lock(stream);
    stream->departed = true;
    chute_stream_unlock(stream);
    unlist(stream);
    chute_stream_release(stream);
}
