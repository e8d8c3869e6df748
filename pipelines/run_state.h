/*
 * run_state - what the driver of a folder is at before there is a run to look at: ingest or partition.
 *
 * The file `state` in the run folder: one line of JSON, written when a stage begins and removed when there is a run.
 * Nothing depends on it; `graphmill status` reads it.
 */
#ifndef PIPELINES_RUN_STATE_H
#define PIPELINES_RUN_STATE_H

#include <stdbool.h>
#include <stdint.h>

struct run_state {
    char stage[32];
    int64_t pid;        /* of the driver */
    int64_t seconds;    /* since the stage began */
    bool is_alive;      /* the driver, on this host */
    char progress[256]; /* the last line of the stage's log, or "" */
};

/* Failing to write is no failure of the run. */
void run_state_write(const char *folder, const char *stage);
void run_state_remove(const char *folder);
/* False: no stage was begun that did not end. */
bool run_state_read(const char *folder, struct run_state *out);

#endif
