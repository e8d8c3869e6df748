/*
 * work_loop - claims a unit, does it, publishes it and hands over, until the run is finished.
 *
 * A crash at any point only repeats work: outputs are published before the unit is completed, and a
 * unit whose output is stored is completed without being done again. A second thread renews the
 * lease every third of its length and writes the heartbeat.
 *
 * Several units at once are several such loops, on threads that share what the stage opened:
 * workers NAME, NAME+1, ... The protocol of a unit is the same. When one loop fails for good, the
 * others finish their unit and stop.
 */
#ifndef STAGES_ENGINE_WORK_LOOP_H
#define STAGES_ENGINE_WORK_LOOP_H

#include "common/base/error.h"
#include "stages/engine/stage.h"
#include "store/queue/work_queue.h"

struct work_loop_config {
    const struct stage *stage;
    const struct stage_context *context;
    struct work_queue_config queue; /* borrowed; the loop sets .stage */
    /* Number of threads, each a worker of its own to the queue; 0: 1. */
    int units_at_once;
    /* Leaves a notice in the store if it fails for good, and ends for the notice of another
     * stage. */
    bool leaves_notice;
    /* End with ERROR_UNAVAILABLE when no unit came for so long; 0: never. */
    int64_t idle_ms;
    /* End with ERROR_UNAVAILABLE after so long without Redis; 0: never. */
    int64_t idle_exit_ms;
};

/* Runs until the run is finished (ERROR_NONE), until a stop signal (ERROR_UNAVAILABLE), or until a
 * unit fails for good (ERROR_CORRUPT, ERROR_INPUT, ERROR_INVALID, ERROR_NOT_FOUND). Such a unit
 * goes to the dead list; other workers see the dead list and stop with ERROR_CORRUPT, too. Trouble
 * of this host (ERROR_IO, ERROR_NO_MEMORY) ends this worker alone: the unit is given to the others.
 * A full disk or quota ends no worker: it says so, waits, and goes on when there is room. */
MUST_CHECK enum error_code work_loop_run(const struct work_loop_config *config, struct error *err);

#endif
