/*
 * typed_memory - what step_memory.h shares out, of a graph with relations: bounds by type and relation, and the same dry run.
 */
#ifndef STAGES_TRAIN_STEP_TYPED_MEMORY_H
#define STAGES_TRAIN_STEP_TYPED_MEMORY_H

#include "stages/train-step/step_memory.h"

/* `nodes_most` [types] becomes how many nodes of each type a mini-batch may have.
 * Fails: ERROR_NOT_FOUND, ERROR_CORRUPT for the seals of the partition; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code typed_memory_plan(const struct model *model,
                                             const struct stage_context *context,
                                             const struct edge_use *use, uint32_t label_dim,
                                             struct step_memory *out, double *nodes_most,
                                             struct error *err);

#endif
