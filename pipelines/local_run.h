/*
 * local_run - a run on this machine, from its start to its outputs: a Redis of its own, the workers, and who watches them.
 *
 * What comes before, ingest and partition and the start of the run, is the command's.
 */
#ifndef PIPELINES_LOCAL_RUN_H
#define PIPELINES_LOCAL_RUN_H

#include "common/base/error.h"
#include "pipelines/crew_growth.h"
#include "pipelines/crew_scaling.h"
#include "pipelines/pipeline_options.h"
#include "pipelines/run_progress.h"
#include "pipelines/stage_crew.h"
#include "store/queue/redis_server.h"

#include <stdint.h>

enum { BEAT_COUNT_MAX = 1024 };

struct local_run { /* {0} is closed; large for a stack */
    struct pipeline_options options;
    struct run_folder folder;
    const char *only_stage;     /* whose workers alone are started; NULL: all */
    struct redis_server *redis; /* NULL with --redis */
    struct work_queue *queue;
    struct chain_state state; /* what storage said last */
    struct stage_crew crew;
    struct crew_growth growth;
    struct crew_scaling scaling;
    struct run_progress progress;
    int64_t units_done;
    struct worker_beat beat[BEAT_COUNT_MAX];
    int64_t beats_ms; /* when they were read last */
};

/* Does what is left of the run that the folder is bound to, links its outputs and prints the answer. `before`: clock_seconds() when
 * the command began. Fails: with the code and last words of a worker that failed for good; ERROR_UNAVAILABLE when asked to
 * stop; ERROR_INVALID for a run of another environment. */
MUST_CHECK enum error_code local_run_go(struct local_run *run, double before, struct error *err);
/* The same without an answer. A run aside (options.is_aside) is not what people find in the folder: no link is set. */
MUST_CHECK enum error_code local_run_finish(struct local_run *run, struct error *err);
/* Binds a finished run of the folder, which is open, and makes it the newest one, that people find there. */
MUST_CHECK enum error_code local_run_promote(struct local_run *run, const char *run_id,
                                             struct error *err);
/* All but options and folder are as in {0} again: for one more run of the same folder. */
void local_run_rest(struct local_run *run);
void local_run_close(struct local_run *run);

#endif
