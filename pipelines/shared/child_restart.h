/*
 * child_restart - decides whether a stage program that failed is started again, and when.
 *
 * The driver starts a program again if another attempt may succeed:
 *
 *   killed from outside, or "try again" (75)    at once, then after 10 ms, 20 ms, ... 1 s; 40 times
 *   an error of the host (74)                   after 0.5 s, 1 s, 2 s, ... 30 s; 10 times (minutes)
 *   out of memory (71)                          the same pauses; 4 times
 *   it crashed (SIGSEGV, SIGABRT, ...)          at once; 4 times
 *   anything else: bad data, settings, a bug    never
 *
 * The limits count failures in a row: the count starts again when any worker has completed a unit
 * in between. So one worker on a bad disk, or on a machine that reclaims its memory, does not end a
 * run in which other workers make progress.
 */
#ifndef PIPELINES_SHARED_CHILD_RESTART_H
#define PIPELINES_SHARED_CHILD_RESTART_H

#include <stdbool.h>
#include <stdint.h>

struct child_restart {  /* {0} before the first start */
    int failures;       /* in a row */
    int last_status;    /* of the last failure */
    int64_t units_done; /* by all workers, at the last failure */
};

/* Returns whether the child is started again. Call it when the child ended with a `status`
 * (child_status()) other than 0. `units_done` is the number of units that all workers of the run
 * have completed; any number that changes with each unit will do. *pause_ms is how long to wait
 * before the start. */
bool child_restart_allowed(struct child_restart *restart, int status, int64_t units_done,
                           int64_t *pause_ms);

#endif
