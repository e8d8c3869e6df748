/*
 * memory_kill - recognises a program of a run that the kernel killed for lack of memory, and makes
 * the error message.
 *
 * Such a program would be killed again and again, so the run ends with status 71. Another kind of
 * kill (by a person, or by a machine that is taken back) does not end the run. The kernel counts
 * its kills for lack of memory (host_oom_kills()): if a program ended by SIGKILL while the count
 * rose, it was killed for lack of memory.
 */
#ifndef PIPELINES_SHARED_MEMORY_KILL_H
#define PIPELINES_SHARED_MEMORY_KILL_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct memory_kill_watch { /* {0} before memory_kill_begin() */
    uint64_t before, last; /* the count some seconds ago, and the one read last */
    int64_t read_ms;
};

void memory_kill_begin(struct memory_kill_watch *watch);
/* Reads the count now and then, so that an old kill is not taken for the cause of a new one. Call
 * it often. */
void memory_kill_look(struct memory_kill_watch *watch);
/* Returns whether a program that ended with `status` (child_status()) a moment ago was killed for
 * lack of memory. */
bool memory_kill_explains(const struct memory_kill_watch *watch, int status);

struct memory_kill {
    const char *program, *log; /* "train-step-0"; the path of its log */
    uint64_t budget_bytes;     /* budget of this program */
    uint64_t run_bytes;        /* budget of all programs of the run together */
    uint64_t least_bytes;      /* smallest budget that a run accepts */
};

/* Returns ERROR_NO_MEMORY, with a message that names the program, its budget, the limit, and a
 * budget that would be enough. */
enum error_code memory_kill_error(const struct memory_kill *kill, struct error *err);

#endif
