/*
 * layer_pipeline - the step of a slot as a pipeline of layers (train-step.pipeline: layers).
 *
 * Of a model of L layers a step is 2L - 1 passes, numbered from 1, each a unit that any worker may do:
 *
 *      pass 1 ... L-1       forward of layers 1 ... L-1         step-layer/r/<pass>/k ─> pass_output
 *      pass L               forward of layer L, loss, backward  step-layer/r/<pass>/k ─> pass_gradient
 *      pass L+1 ... 2L-2    backward of layers L-1 ... 2        step-layer/r/<pass>/k ─> pass_gradient
 *      pass 2L-1            backward of layer 1                 train-step/r/k        ─> gradient
 *
 * The last pass puts the gradient of the slot together, so that all that follows a step sees what it always sees. A backward
 * computes the forward of its layer again (common/nn/layer_training.h): what lies in storage is what layers give each other.
 *
 * Slots follow each other through the pipeline by the rule of one forward, one backward (Narayanan and others, "PipeDream", SOSP
 * 2019): as many are on their way as there are passes, and the next one begins when one of them is through. So what lies
 * between the layers does not grow with the slots of a round, and as many workers as there are passes have something to do.
 */
#ifndef STAGES_PLAN_LAYER_PIPELINE_H
#define STAGES_PLAN_LAYER_PIPELINE_H

#include "stages/plan/schedule.h"

#include <stdbool.h>
#include <stdint.h>

struct pipeline_pass {
    int layer;                    /* from 0 */
    bool is_forward, is_backward; /* the pass of the last layer is both */
};

/* All passes of a step but the last, each a unit of its own; 0: a step is one unit. */
int32_t layer_pipeline_passes(const struct schedule *s);
/* What pass `number` does, from 1; the last one is that of layer 0 on the way back. */
struct pipeline_pass layer_pipeline_pass(const struct schedule *s, int32_t number);
/* Slots of a round that are on their way at once. */
int32_t layer_pipeline_window(const struct schedule *s);

#endif
