/*
 * crew_growth - what a local run does for `--workers auto`: measures rounds a second, and adds and takes back workers as the
 * rule says (pipelines/worker_growth.h).
 *
 * It measures only while all workers that there should be are at work and those that were taken back are gone, from the end of
 * a round to the end of a later one. What is decided, and from which figures, is a line of logs/workers.log and of stderr.
 */
#ifndef PIPELINES_CREW_GROWTH_H
#define PIPELINES_CREW_GROWTH_H

#include "common/base/error.h"
#include "pipelines/run_folder.h"
#include "pipelines/stage_crew.h"
#include "pipelines/worker_growth.h"
#include "store/queue/work_queue.h"

#include <stdbool.h>
#include <stdint.h>

struct crew_growth { /* by crew_growth_begin() */
    struct worker_growth rule;
    const struct run_folder *folder; /* borrowed */
    bool quiet;
    int64_t look_ms;
    int64_t
        units; /* of aggregate, done when it was looked last; -1: not since the workers are as they are */
    int64_t from_ms; /* where the measurement begins; 0: the end of a round is waited for */
    int64_t from_units;
};

/* `folder` is that of the bound run. A crew of one worker of each stage, which may become `most`. */
void crew_growth_begin(struct crew_growth *growth, const struct run_folder *folder, int most,
                       bool quiet);
/* To be called often. Fails: as stage_crew_add_set(). A queue that does not answer is asked again later. */
MUST_CHECK enum error_code crew_growth_turn(struct crew_growth *growth, struct stage_crew *crew,
                                            struct work_queue *queue, struct error *err);

#endif
