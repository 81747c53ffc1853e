/* process: what there is once a process. */
#ifndef CHUTE_PROCESS_H
#define CHUTE_PROCESS_H

#include <pthread.h>
#include <stdint.h>

/* Grows in a forked child: what was made under another generation has lost its threads. */
uint32_t chute_process_generation(void);

/* curl_global_init, once. 0, or what curl answered. */
int chute_process_curl(void);

/* Has `run` called at exit(), phase by phase, whatever the order of registration. A function is
 * registered once. Call it after loading a library whose own destructors must come later. */
enum { CHUTE_EXIT_DRAIN, CHUTE_EXIT_CLOSE, CHUTE_EXIT_PHASES };
void chute_process_at_exit(int phase, void (*run)(void));

/* Starts a thread named `name` (at most 15 bytes). The program's signals are its own threads'
 * business: ours takes none but those that its own faults raise. 0, or what pthread_create
 * answered. */
int chute_process_start(pthread_t *thread, void *(*run)(void *), void *argument, const char *name);

#endif
