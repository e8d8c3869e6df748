/*
 * run_state - what the driver of a folder is at, or how it ended: for who looks at the folder from outside.
 *
 * The file `state` in the run folder: one line of JSON, written when ingest, partition or training begins, written again with
 * the reason when the driver ends early, and removed when all is done. A driver that was killed leaves the line as it was, and
 * is told by its process: pid and start time. Nothing depends on the file; `graphmill status` reads it.
 */
#ifndef PIPELINES_RUN_STATE_H
#define PIPELINES_RUN_STATE_H

#include "common/base/error.h"
#include "pipelines/run_folder.h"

#include <stdbool.h>
#include <stdint.h>

enum run_outcome {
    RUN_AT_WORK = 1, /* or, on another host, not known to have ended */
    RUN_STOPPED,     /* by a person or by the system, with time to say so */
    RUN_FAILED,
    RUN_LOST, /* killed: nothing was said */
};

struct run_state {
    char stage[32]; /* "ingest", "partition" or "training" */
    char host[64];
    int64_t pid; /* of the driver */
    int64_t
        seconds; /* since the stage began, until now or until it ended; -1: it was killed, nobody knows when */
    enum run_outcome outcome;
    char message[768];  /* why it failed, or "" */
    char progress[256]; /* the last line of the stage's log, or "" */
};

/* Failing to write is no failure of the run. */
void run_state_write(const char *folder, const char *stage);
/* The stage is done, and no other begun. */
void run_state_remove(const char *folder);
/* The driver that holds the folder's lock ends, with `rc` and, where that is a failure, `err`. */
void run_state_settle(const struct run_folder *folder, enum error_code rc, const struct error *err);
/* False: no driver is at work, and none ended early. */
bool run_state_read(const char *folder, struct run_state *out);
/* "at work", "stopped", "failed" or "lost". */
const char *run_outcome_word(enum run_outcome outcome);

#endif
