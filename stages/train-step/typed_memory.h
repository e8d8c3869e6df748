/*
 * typed_memory - what step_memory.h shares out, of a graph with relations: bounds by type and relation, and the same dry run.
 */
#ifndef STAGES_TRAIN_STEP_TYPED_MEMORY_H
#define STAGES_TRAIN_STEP_TYPED_MEMORY_H

#include "stages/train-step/step_memory.h"

/* Fails: ERROR_NOT_FOUND, ERROR_CORRUPT for the seals of the partition; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code typed_memory_plan(const struct model *model,
                                             const struct stage_context *context,
                                             const struct edge_use *use, uint32_t label_dim,
                                             struct step_memory *out, struct error *err);

#endif
