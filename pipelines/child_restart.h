/*
 * child_restart - whether a stage program that did not end well is started again, and when.
 *
 * The driver repeats what may go another way next time, and only as long as something moves:
 *
 *   killed from outside, or "try again" (75)    at once, then after 10 ms, 20 ms, ... 1 s; 40 times
 *   the host failed it (74)                     after 0.5 s, 1 s, 2 s, ... 30 s; 10 times (some minutes)
 *   no memory (71)                              the same pauses; 4 times
 *   it crashed (SIGSEGV, SIGABRT, ...)          at once; 4 times
 *   anything else: bad data, settings, a bug    never
 *
 * times in a row: units that were done meanwhile, by any worker, start the count anew. So one worker on a bad disk
 * or on a machine that reclaims its memory does not end a run that the others carry on.
 */
#ifndef PIPELINES_CHILD_RESTART_H
#define PIPELINES_CHILD_RESTART_H

#include <stdbool.h>
#include <stdint.h>

struct child_restart {  /* {0} before the first start */
    int failures;       /* in a row */
    int last_status;    /* of the last of them */
    int64_t units_done; /* by all workers, at the last of them */
};

/* To be called when the child ended with `status` (child_status()) other than 0. `units_done`: by all workers of
 * the run so far, any number that changes when work is done. False: it is not started again. *pause_ms: how long to
 * wait first. */
bool child_restart_allowed(struct child_restart *restart, int status, int64_t units_done,
                           int64_t *pause_ms);

#endif
