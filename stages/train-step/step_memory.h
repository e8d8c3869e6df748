/*
 * step_memory - how the budget of a train-step program is shared out before any of it is used.
 *
 * What a step needs follows from batch size, fan-outs and widths: an upper bound on the nodes of each hop
 * gives one on every array. What is left holds feature rows: the more of them, the fewer reads. When it
 * would be under a quarter of the budget, the feature rows get a quarter all the same, and the bound
 * being one, the step will often fit too; if not, it says what it wanted.
 */
#ifndef STAGES_TRAIN_STEP_STEP_MEMORY_H
#define STAGES_TRAIN_STEP_STEP_MEMORY_H

#include "common/nn/model.h"
#include "stages/stage.h"

#include <stdint.h>

struct step_memory {
    uint64_t step_bytes;    /* upper bound for one unit */
    uint64_t feature_bytes; /* budget of the feature rows */
    uint64_t label_bytes;   /* budget of the label rows */
};

/* `label_dim`: values of a label row. */
struct step_memory step_memory_plan(const struct model *model, const struct stage_context *context,
                                    uint32_t label_dim);

#endif
