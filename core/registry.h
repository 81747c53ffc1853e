/* registry: the streams of this process. It is the engine's only global state.
 *
 * A stream that its owner has left (the collector took it, or the program ends) goes on till its
 * batches are through; at exit the registry waits for all of them, for at most five seconds. */
#ifndef CHUTE_REGISTRY_H
#define CHUTE_REGISTRY_H

#include "chute.h"

/* Takes note of an open stream. */
void chute_registry_add(chute_stream *stream);

/* Its owner has left the shut stream: never waits. Its flusher buries it once nothing of it is in
 * flight. */
void chute_registry_leave(chute_stream *stream);

/* Takes a left stream with nothing in flight apart. Of its own flusher, which then ends. */
void chute_registry_bury(chute_stream *stream);

#endif
