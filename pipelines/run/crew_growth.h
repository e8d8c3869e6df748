/*
 * crew_growth - implements `--workers auto` in a local run: it measures rounds per second, and adds
 * or removes workers as the rule in pipelines/run/worker_growth.h decides.
 *
 * A measurement lasts from the end of one round to the end of a later one. It is taken only while
 * all wanted workers are running and all removed ones have ended. Each decision is a line of
 * logs/workers.log and of stderr, with the measurements that it is based on.
 */
#ifndef PIPELINES_RUN_CREW_GROWTH_H
#define PIPELINES_RUN_CREW_GROWTH_H

#include "common/base/error.h"
#include "pipelines/run/stage_crew.h"
#include "pipelines/run/worker_growth.h"
#include "pipelines/shared/run_folder.h"
#include "store/queue/work_queue.h"

#include <stdbool.h>
#include <stdint.h>

struct crew_growth { /* initialised by crew_growth_begin() */
    struct worker_growth rule;
    const struct run_folder *folder; /* borrowed */
    bool quiet;
    int64_t look_ms;
    /* units that aggregate had done at the last look; -1: no look since the number of workers
     * changed */
    int64_t units;
    int64_t from_ms; /* when the measurement began; 0: it begins at the end of the next round */
    int64_t from_units;
};

/* Starts with one worker of each stage; the number may grow to `most`. `folder` is the folder of
 * the bound run. */
void crew_growth_begin(struct crew_growth *growth, const struct run_folder *folder, int most,
                       bool quiet);
/* Measures, and changes the number of workers if the rule says so. Call it often. A queue that does
 * not answer is asked again later. Fails: as stage_crew_add_set(). */
MUST_CHECK enum error_code crew_growth_turn(struct crew_growth *growth, struct stage_crew *crew,
                                            struct work_queue *queue, struct error *err);

#endif
