/*
 * run_progress - shows the progress of a run on stderr: a panel on a terminal, a plain line every
 * ten seconds elsewhere.
 *
 *   training    12.3 s  ##########..........  52 %  11 s left
 *   round 31 of 60, epoch 6 of 10
 *   loss 0.5748  valid 0.8788  best 0.8788
 *   sample          62    20.1/s   0 running    4 waiting
 *   ...
 *
 * Rates and the time left are computed from the last half minute, because the start of a run says
 * little about the rest of it.
 */
#ifndef PIPELINES_RUN_RUN_PROGRESS_H
#define PIPELINES_RUN_RUN_PROGRESS_H

#include "common/base/error.h"
#include "pipelines/shared/run_folder.h"
#include "stages/engine/stage_list.h"
#include "store/queue/work_queue.h"

#include <stdbool.h>
#include <stdint.h>

enum { PROGRESS_LOOKS = 64 };

struct progress_look { /* the counts at one moment */
    int64_t ms;
    int64_t rounds;                  /* completed rounds of training */
    int64_t units[STAGE_LOOP_COUNT]; /* completed since the queue was filled */
};

struct run_progress { /* {0}, then .quiet as wanted */
    bool quiet;
    bool on_terminal;
    int64_t started_ms, last_ms;
    int64_t filled_version;          /* completed rounds when the queue was filled */
    int64_t snapshot_version, epoch; /* of the newest snapshot; -1: none yet */
    double loss, valid, best;
    int64_t loss_warnings; /* number of warnings that were already shown */
    struct stage_counts counts[STAGE_LOOP_COUNT];
    /* a ring; the newest is look[(look_count - 1) % PROGRESS_LOOKS] */
    struct progress_look look[PROGRESS_LOOKS];
    int64_t look_count;
};

void run_progress_begin(struct run_progress *progress, const struct run_folder *folder, bool quiet);
/* Draws the progress if it is due. It is no error if Redis cannot be reached. */
void run_progress_draw(struct run_progress *progress, const struct run_folder *folder,
                       struct work_queue *queue);
/* Prints the warnings about the loss, and replaces the panel by a line that says what was done. */
void run_progress_end(struct run_progress *progress, const struct run_folder *folder);

#endif
