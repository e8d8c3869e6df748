/*
 * layer_pipeline - the step of a slot as a pipeline of layers (train-step.pipeline: layers).
 *
 * For a model of L layers a step is 2L - 1 passes, numbered from 1. Each is a unit that any worker
 * may do:
 *
 *   pass 1 ... L-1       forward of layers 1 ... L-1         step-layer/r/<pass>/k ─> pass_output
 *   pass L               forward of layer L, loss, backward  step-layer/r/<pass>/k ─> pass_gradient
 *   pass L+1 ... 2L-2    backward of layers L-1 ... 2        step-layer/r/<pass>/k ─> pass_gradient
 *   pass 2L-1            backward of layer 1                 train-step/r/k        ─> gradient
 *
 * The last pass puts the gradient of the slot together, so everything after a step works as without
 * passes. A backward pass computes the forward of its layer again (common/nn/layer_training.h), so
 * only the values between layers are stored.
 *
 * Slots follow each other through the pipeline by the rule of one forward, one backward (Narayanan
 * and others, "PipeDream", SOSP 2019): as many slots are under way as there are passes, and the
 * next slot begins when one of them has ended. So the stored values do not grow with the slots of a
 * round, and as many workers as there are passes can work.
 */
#ifndef STAGES_PLAN_CHAIN_LAYER_PIPELINE_H
#define STAGES_PLAN_CHAIN_LAYER_PIPELINE_H

#include "stages/plan/chain/schedule.h"

#include <stdbool.h>
#include <stdint.h>

struct pipeline_pass {
    int layer;                    /* counted from 0 */
    bool is_forward, is_backward; /* the pass of the last layer is both */
};

/* Returns the number of passes of a step that are units of their own, which is all but the last
 * one; 0: a step is one unit. */
int32_t layer_pipeline_passes(const struct schedule *s);
/* Returns what pass `number`, from 1, does. The last pass is the backward of layer 0. */
struct pipeline_pass layer_pipeline_pass(const struct schedule *s, int32_t number);
/* Returns the number of slots of a round that are under way at once. */
int32_t layer_pipeline_window(const struct schedule *s);

#endif
