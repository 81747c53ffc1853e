#include "registry.h"

#include "process.h"
#include "stream.h"

#include <stdlib.h>

enum { EXIT_MS = 5000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static chute_stream *streams; /* all there are, left ones too; under `lock` */

/* Ends a left stream. */
static void take_apart(chute_stream *stream) {
    chute_stream_depart(stream);
    chute_stream_release(stream);
}

static bool is_idle(chute_stream *stream) {
    chute_stream_lock(stream);
    bool idle = stream->left && (stream->departed || stream->stats.batches_in_flight == 0);
    chute_stream_unlock(stream);
    return idle;
}

/* The left streams with nothing in flight, taken off the list. */
static chute_stream *take_idle(void) {
    chute_stream *idle = NULL;
    pthread_mutex_lock(&lock);
    for (chute_stream **at = &streams; *at;) {
        chute_stream *stream = *at;
        if (!is_idle(stream)) {
            at = &stream->next;
            continue;
        }
        *at = stream->next;
        stream->next = idle;
        idle = stream;
    }
    pthread_mutex_unlock(&lock);
    return idle;
}

static void sweep(void) {
    for (chute_stream *stream = take_idle(); stream;) {
        chute_stream *next = stream->next;
        take_apart(stream);
        stream = next;
    }
}

/* os.exit and the end of main come here: what was accepted gets its chance to arrive. */
static void drain_all(void) {
    uint64_t until = chute_stream_now() + EXIT_MS;
    pthread_mutex_lock(&lock);
    for (chute_stream *stream = streams; stream; stream = stream->next) chute_stream_shut(stream);
    for (chute_stream *stream = streams; stream; stream = stream->next) {
        uint64_t now = chute_stream_now();
        chute_stream_wait(stream, 0, now < until ? (uint32_t)(until - now) : 0);
    }
    pthread_mutex_unlock(&lock);
    sweep();
}

static void register_exit(void) {
    chute_process_at_exit(CHUTE_EXIT_DRAIN, drain_all);
}

void chute_registry_add(chute_stream *stream) {
    pthread_once(&once, register_exit);
    sweep();
    pthread_mutex_lock(&lock);
    stream->next = streams;
    streams = stream;
    pthread_mutex_unlock(&lock);
}

void chute_registry_leave(chute_stream *stream) {
    chute_stream_lock(stream);
    stream->left = true;
    chute_stream_unlock(stream);
    sweep();
}
