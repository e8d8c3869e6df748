/*
 * local_run - a run on this machine from its start to its outputs: a private Redis, the workers,
 * and their supervision.
 *
 * The command has already run ingest and partition and has started the run.
 */
#ifndef PIPELINES_RUN_LOCAL_RUN_H
#define PIPELINES_RUN_LOCAL_RUN_H

#include "common/base/error.h"
#include "pipelines/run/crew_growth.h"
#include "pipelines/run/crew_scaling.h"
#include "pipelines/run/pipeline_options.h"
#include "pipelines/run/run_progress.h"
#include "pipelines/run/stage_crew.h"
#include "store/queue/redis_server.h"

#include <stdint.h>

enum { BEAT_COUNT_MAX = 1024 };

struct local_run { /* {0} is closed; large for a stack */
    struct pipeline_options options;
    struct run_folder folder;
    const char *only_stage;     /* the only stage whose workers are started; NULL: all stages */
    struct redis_server *redis; /* NULL with --redis */
    struct work_queue *queue;
    struct chain_state state; /* the last state that was read from storage */
    struct stage_crew crew;
    struct crew_growth growth;
    struct crew_scaling scaling;
    struct run_progress progress;
    int64_t units_done;
    struct worker_beat beat[BEAT_COUNT_MAX];
    int64_t beats_ms; /* when heartbeats were last read */
};

/* Completes the run that the folder is bound to, links its outputs and prints the answer. `before`
 * is clock_seconds() at the start of the command. Fails: with the code and last words of a worker
 * that failed for good; ERROR_UNAVAILABLE when asked to stop; ERROR_INVALID for a run of another
 * environment. */
MUST_CHECK enum error_code local_run_go(struct local_run *run, double before, struct error *err);
/* Does the same without printing an answer. For a run aside (options.is_aside) it sets no link, so
 * the folder still shows the run before it. */
MUST_CHECK enum error_code local_run_finish(struct local_run *run, struct error *err);
/* Binds a finished run of the open folder and makes it the folder's newest run, to which the links
 * point. */
MUST_CHECK enum error_code local_run_promote(struct local_run *run, const char *run_id,
                                             struct error *err);
/* Resets all fields but options and folder to {0}, so that one more run of the same folder can
 * follow. */
void local_run_rest(struct local_run *run);
void local_run_close(struct local_run *run);

#endif
