/*
 * work_loop - claim a unit, do it, publish it, hand over; until the run is finished.
 *
 * A crash at any point only repeats work: outputs are published before the unit is completed, and a
 * unit whose output is stored is completed without being done again. A second thread renews the lease
 * every third of its length and writes the heartbeat.
 *
 * Several units at once are several such loops, on threads that share what the stage opened: worker NAME, NAME+1,
 * ... The protocol of a unit is the same. When one fails for good the others end theirs and stop.
 */
#ifndef STAGES_ENGINE_WORK_LOOP_H
#define STAGES_ENGINE_WORK_LOOP_H

#include "common/base/error.h"
#include "stages/engine/stage.h"
#include "store/queue/work_queue.h"

struct work_loop_config {
    const struct stage *stage;
    const struct stage_context *context;
    struct work_queue_config queue; /* borrowed; .stage is set by the loop */
    int units_at_once; /* by as many threads, each a worker of its own to the queue; 0: 1 */
    bool
        leaves_notice; /* of a failure for good, in the store, and ends for that of another stage */
    int64_t idle_ms;   /* end with ERROR_UNAVAILABLE when no unit came for so long; 0: never */
    int64_t idle_exit_ms; /* give up with ERROR_UNAVAILABLE after so long without Redis; 0: never */
};

/* Runs until the run is finished (ERROR_NONE), a stop signal (ERROR_UNAVAILABLE), or a unit fails for
 * good (ERROR_CORRUPT, ERROR_INPUT, ERROR_INVALID, ERROR_NOT_FOUND): the unit goes to the dead list and the error is
 * returned; other workers see the dead list and stop with ERROR_CORRUPT too. Trouble of this host (ERROR_IO,
 * ERROR_NO_MEMORY) ends this worker alone: the unit is handed to the others. A full disk or quota ends nobody: the worker
 * says so, waits, and goes on when there is room. */
MUST_CHECK enum error_code work_loop_run(const struct work_loop_config *config, struct error *err);

#endif
