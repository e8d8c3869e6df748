/*
 * step_model - what a step asks of its model: the model's input out of a batch, rows of the first layer that are aggregated
 * ahead, and the gradient of input rows.
 *
 * Models over one kind of nodes and edges and models over several differ in how they take these (common/nn/model.h). Nobody else
 * in train-step has to know.
 */
#ifndef STAGES_TRAIN_STEP_STEP_MODEL_H
#define STAGES_TRAIN_STEP_STEP_MODEL_H

#include "common/nn/input_aggregation.h"
#include "common/nn/model.h"
#include "common/parallel/thread_pool.h"
#include "stages/train-step/step_batch.h"

#include <stdbool.h>
#include <stdint.h>

/* What the model computes on, borrowed from the batch, as is `dropout` (NULL: none). */
struct model_input step_model_input(const struct model *model, struct step_batch *batch,
                                    const struct random_stream *dropout);

/* The gradient of all parameters into `gradient`, and that of the input rows of the types that want one into of_input [types],
 * in the arena. Fails: as model_backward(). */
MUST_CHECK enum error_code
step_model_backward(const struct model *model, const float *value, const struct step_batch *batch,
                    struct model_trace *trace, const float *slope,
                    const struct model_workspace *workspace, float *gradient,
                    const float *of_input[RELATION_TYPE_COUNT_MAX], struct error *err);

/* Whether the first layer leaves out the zeros of rows that are mostly zero. */
bool step_model_leaves_out_zeros(const struct model *model);

/* Rows of the first layer that are aggregated before the weights are known. */
struct step_ahead { /* {0}: nothing is to be aggregated */
    const struct model *model;
    struct step_batch *batch;
    struct input_aggregation nodes;
};

/* Whether they can be, of a batch of which nothing is aggregated. */
bool step_ahead_is_possible(const struct model *model, const struct step_batch *batch);
/* Makes room for them in the arena. Aggregates nothing yet. Fails: ERROR_NO_MEMORY when the arena's limit is reached. */
MUST_CHECK enum error_code step_ahead_begin(struct step_ahead *out, const struct model *model,
                                            struct step_batch *batch,
                                            const struct thread_pool *pool, struct arena *arena,
                                            struct error *err);
/* Aggregates some tiles; false: that was all. The batch has what is there. */
bool step_ahead_advance(struct step_ahead *ahead, int64_t tiles, struct thread_pool *pool);

#endif
