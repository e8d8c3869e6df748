/*
 * run_state - records what the driver of a folder is doing, or how it ended, for other programs
 * that look at the folder.
 *
 * The record is the file `state` in the run folder: one line of JSON. It is written when ingest,
 * partition or training begins, written again with the reason when the driver ends early, and
 * removed when the run is complete. A driver that was killed leaves the line unchanged; it is
 * recognised by its process id and start time. Only `graphmill status` reads the file; nothing
 * depends on it.
 */
#ifndef PIPELINES_SHARED_RUN_STATE_H
#define PIPELINES_SHARED_RUN_STATE_H

#include "common/base/error.h"
#include "pipelines/shared/run_folder.h"

#include <stdbool.h>
#include <stdint.h>

enum run_outcome {
    RUN_AT_WORK = 1, /* or, on another host, not known to have ended */
    RUN_STOPPED,     /* stopped by a person or the system, and could still write why */
    RUN_FAILED,
    RUN_LOST, /* killed before it could write anything */
};

struct run_state {
    char stage[32]; /* "ingest", "partition" or "training" */
    char host[64];
    int64_t pid; /* process id of the driver */
    /* from the start of the stage until now or its end; -1: killed at an unknown time */
    int64_t seconds;
    enum run_outcome outcome;
    char message[768];  /* why it failed, or "" */
    char progress[256]; /* the last line of the stage's log, or "" */
};

/* Records that a stage begins. A failure to write does not fail the run. */
void run_state_write(const char *folder, const char *stage);
/* Removes the record: the stage is done, and no other has begun. */
void run_state_remove(const char *folder);
/* Records how the driver that holds the folder's lock ends: with `rc`, and with `err` if that is a
 * failure. */
void run_state_settle(const struct run_folder *folder, enum error_code rc, const struct error *err);
/* Reads the record. Returns false if no driver is running and none ended early. */
bool run_state_read(const char *folder, struct run_state *out);
/* Returns "at work", "stopped", "failed" or "lost". */
const char *run_outcome_word(enum run_outcome outcome);

#endif
