/*
 * run_progress - how far a run is, on stderr: one updating block on a terminal, a plain line every ten
 * seconds elsewhere.
 */
#ifndef PIPELINES_RUN_PROGRESS_H
#define PIPELINES_RUN_PROGRESS_H

#include "common/base/error.h"
#include "pipelines/run_folder.h"
#include "stages/engine/stage_list.h"
#include "store/queue/work_queue.h"

#include <stdbool.h>
#include <stdint.h>

struct run_progress { /* {0}, then .quiet as wanted */
    bool quiet;
    bool on_terminal;
    int lines; /* drawn and to be drawn over */
    int64_t started_ms, last_ms;
    int64_t first_version; /* of the newest snapshot when we began */
    char last_metric[200];
    int64_t metric_version;
    struct {
        int64_t first; /* units done when the stage was seen first; less than 0: not yet */
        int64_t first_ms;
    } rate[STAGE_LOOP_COUNT];
};

void run_progress_begin(struct run_progress *progress, const struct run_folder *folder, bool quiet);
/* Draws when it is time to. Redis being away is not an error here. */
void run_progress_draw(struct run_progress *progress, const struct run_folder *folder,
                       struct work_queue *queue);
/* Leaves the last state on the screen. */
void run_progress_end(struct run_progress *progress);

#endif
