/*
 * layer_step - a pass of a step through one layer (stages/plan/chain/layer_pipeline.h): what train-step does in a pipeline of layers.
 *
 *   mini_batch ──────────────────────────┐
 *   weights, of which it reads its layer ─┼─> forward of the layer ─┬──────────────> pass_output
 *   feature rows (layer 1), pass_output ─┘   (again, on the way    └─> backward ──> pass_gradient, of the last pass: gradient
 *   pass_gradient of the layers above ──────  back) ──────────────────────┘
 *
 * Nothing is remembered from pass to pass but what was read, so any worker can do any pass. The bits of a gradient are
 * those of the whole step.
 */
#ifndef STAGES_TRAIN_STEP_LAYER_STEP_H
#define STAGES_TRAIN_STEP_LAYER_STEP_H

#include "common/base/arena.h"
#include "common/base/error.h"
#include "stages/engine/stage.h"
#include "stages/plan/model/run_loss.h"
#include "stages/train-step/step_input.h"
#include "store/records/round/gradient.h"

struct layer_step { /* all borrowed; the arena is reset by each pass */
    const struct stage_context *context;
    struct step_input *input;
    const struct run_loss *loss;
    struct arena *arena;
};

/* Computes and publishes what a unit step-layer makes. Fails: ERROR_NOT_FOUND, ERROR_CORRUPT of what it reads; ERROR_INPUT for a loss that
 * is not finite. */
MUST_CHECK enum error_code layer_step_pass(const struct layer_step *step, const struct unit *unit,
                                           struct error *err);
/* The last pass: value [value_count of the model] is the gradient of the slot, and *out what its record says. Fails: likewise, also
 * for a gradient that is not finite. */
MUST_CHECK enum error_code layer_step_last(const struct layer_step *step, const struct unit *unit,
                                           float *value, struct gradient *out, struct error *err);

/* In an arena that counts: what a pass through `layer`, from 0, takes at most, which is on its way back. *around: bytes of the
 * records of other layers beside it. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code layer_step_count(const struct model *model, int layer,
                                            const struct model_input *input,
                                            const struct model_workspace *workspace,
                                            size_t *around);

#endif
