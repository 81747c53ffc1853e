/* kill: places where a build for tests ends the process, to see what is left of its batches.
 *
 * Built with -DCHUTE_KILL_POINTS, the process gets SIGKILL at the point that it passes as the
 * CHUTE_KILL_AT-th (in the environment; 0 or none: never). Otherwise a point is nothing. */
#ifndef CHUTE_KILL_H
#define CHUTE_KILL_H

#ifdef CHUTE_KILL_POINTS
void chute_kill_point(void);
#else
static inline void chute_kill_point(void) {}
#endif

#endif
