/*
 * run_progress - how far a run is, on stderr: one panel on a terminal, a plain line every ten
 * seconds elsewhere.
 *
 *   training    12.3 s  ##########..........  52 %  11 s left
 *   round 31 of 60, epoch 6 of 10
 *   loss 0.5748  valid 0.8788  best 0.8788
 *   sample          62    20.1/s   0 running    4 waiting
 *   ...
 *
 * Rates, and the time left, go by the last half minute: what a run began with says little of what
 * is left of it.
 */
#ifndef PIPELINES_RUN_PROGRESS_H
#define PIPELINES_RUN_PROGRESS_H

#include "common/base/error.h"
#include "pipelines/run_folder.h"
#include "stages/engine/stage_list.h"
#include "store/queue/work_queue.h"

#include <stdbool.h>
#include <stdint.h>

enum { PROGRESS_LOOKS = 64 };

struct progress_look { /* at one moment */
    int64_t ms;
    int64_t rounds;                  /* of training that are done */
    int64_t units[STAGE_LOOP_COUNT]; /* done since the queue was filled */
};

struct run_progress { /* {0}, then .quiet as wanted */
    bool quiet;
    bool on_terminal;
    int64_t started_ms, last_ms;
    int64_t filled_version;          /* rounds that were done when the queue was filled */
    int64_t snapshot_version, epoch; /* of the newest snapshot; -1: none yet */
    double loss, valid, best;
    int64_t loss_warnings; /* that were told */
    struct stage_counts counts[STAGE_LOOP_COUNT];
    /* the newest is look[(look_count - 1) % PROGRESS_LOOKS] */
    struct progress_look look[PROGRESS_LOOKS];
    int64_t look_count;
};

void run_progress_begin(struct run_progress *progress, const struct run_folder *folder, bool quiet);
/* Draws when it is time to. Redis being away is not an error here. */
void run_progress_draw(struct run_progress *progress, const struct run_folder *folder,
                       struct work_queue *queue);
/* Tells the warnings about the loss and takes the panel away: a line says what was done. */
void run_progress_end(struct run_progress *progress, const struct run_folder *folder);

#endif
