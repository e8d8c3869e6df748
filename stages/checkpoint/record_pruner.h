/*
 * record_pruner - removes what the retention rule lets go.
 *
 * The records of each kind form a series: one number after another, each with its slots. A series is pruned
 * from its old end to the limit, and slot 0 goes last of its number. So what is left, also after a kill in
 * the middle, is one unbroken piece up to the limit, and the next checkpoint finds its old end by walking
 * back until slot 0 is missing. That costs one look-up more than there is to remove, whatever the length of
 * the run, and what one checkpoint did not get done the next one does.
 */
#ifndef STAGES_CHECKPOINT_RECORD_PRUNER_H
#define STAGES_CHECKPOINT_RECORD_PRUNER_H

#include "common/base/error.h"
#include "stages/engine/stage.h"
#include "stages/plan/retention_rule.h"

/* Fails: ERROR_IO. Done twice, the second time finds nothing to do. */
MUST_CHECK enum error_code record_pruner_run(const struct stage_context *context,
                                             const struct retention *retention, struct error *err);

#endif
