/*
 * memory_kill - a program of a run that the kernel killed for want of memory, and what is said of
 * it.
 *
 * Such a program would be killed again and again, so the run ends with status 71. A kill of another
 * kind (a person, a machine that is taken back) is no reason to end the run. The kernel counts the
 * kills for want of memory (host_oom_kills()): a program that ended by SIGKILL while that count
 * rose was killed for memory.
 */
#ifndef PIPELINES_MEMORY_KILL_H
#define PIPELINES_MEMORY_KILL_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct memory_kill_watch { /* {0} before memory_kill_begin() */
    uint64_t before, last; /* the count some seconds ago, and when it was read last */
    int64_t read_ms;
};

void memory_kill_begin(struct memory_kill_watch *watch);
/* Reads the count now and then, so that an old kill explains nothing. Call it often. */
void memory_kill_look(struct memory_kill_watch *watch);
/* Whether a program that ended with `status` (child_status()) a moment ago was killed for
 * memory. */
bool memory_kill_explains(const struct memory_kill_watch *watch, int status);

struct memory_kill {
    const char *program, *log; /* "train-step-0"; the path of its log */
    uint64_t budget_bytes;     /* of this program */
    uint64_t run_bytes;        /* of all programs of the run together */
    uint64_t least_bytes;      /* the smallest budget of a run that is accepted */
};

/* Returns ERROR_NO_MEMORY, with a message that names the program, its budget, the limit, and a
 * budget that would fit. */
enum error_code memory_kill_error(const struct memory_kill *kill, struct error *err);

#endif
