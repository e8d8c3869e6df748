/*
 * step_ahead - aggregates rows of the first layer before the weights are known
 * (common/nn/input_aggregation.h, common/nn/typed/relation_input.h).
 */
#ifndef STAGES_TRAIN_STEP_STEP_AHEAD_H
#define STAGES_TRAIN_STEP_STEP_AHEAD_H

#include "common/nn/input_aggregation.h"
#include "common/nn/model.h"
#include "common/parallel/thread_pool.h"
#include "stages/train-step/step_batch.h"

#include <stdbool.h>
#include <stdint.h>

struct step_ahead { /* {0}: nothing is to be aggregated */
    struct step_batch *batch;
    struct input_aggregation nodes;
};

/* Returns whether the rows of the batch can be aggregated ahead and none were aggregated yet. */
bool step_ahead_is_possible(const struct model *model, const struct step_batch *batch);
/* Allocates the aggregated rows in the arena, and aggregates nothing yet. Fails: ERROR_NO_MEMORY
 * when the limit of the arena is reached. */
MUST_CHECK enum error_code step_ahead_begin(struct step_ahead *out, const struct model *model,
                                            struct step_batch *batch,
                                            const struct thread_pool *pool, struct arena *arena,
                                            struct error *err);
/* Aggregates some tiles and updates the batch. Returns false if there are no more tiles. */
bool step_ahead_advance(struct step_ahead *ahead, int64_t tiles, struct thread_pool *pool);

#endif
