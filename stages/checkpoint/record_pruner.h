/*
 * record_pruner - removes the records that the retention rule does not keep.
 *
 * The records of each kind form a series: one number after another, each with its slots. A series
 * is pruned from its old end to the limit, and slot 0 of a number is removed last. So what is left,
 * also after a kill in the middle, is one unbroken piece up to the limit. The next checkpoint finds
 * its old end by walking back until slot 0 is missing. That costs one look-up more than there is to
 * remove, whatever the length of the run, and the next checkpoint finishes what one left.
 */
#ifndef STAGES_CHECKPOINT_RECORD_PRUNER_H
#define STAGES_CHECKPOINT_RECORD_PRUNER_H

#include "common/base/error.h"
#include "stages/engine/stage.h"
#include "stages/plan/chain/retention_rule.h"

/* Removes the records. Done twice, the second time finds nothing to do. Fails: ERROR_IO. */
MUST_CHECK enum error_code record_pruner_run(const struct stage_context *context,
                                             const struct retention *retention, struct error *err);

#endif
