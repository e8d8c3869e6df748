/*
 * layer_step - computes one pass of a step through one layer, in a pipeline of layers
 * (stages/plan/chain/layer_pipeline.h).
 *
 *   mini_batch ───────────────────────────┐
 *   weights of the layer ─────────────────┼─> forward of the layer ─┬──> pass_output
 *   feature rows (layer 1), pass_output ──┘   (again, before        └─> backward ──> pass_gradient;
 *   pass_gradient of the layers above ──────   a backward) ───────────────┘          last: gradient
 *
 * A pass keeps nothing for the next one except the records that it read, so any worker can compute
 * any pass. The gradient has the same bits as that of a whole step.
 */
#ifndef STAGES_TRAIN_STEP_LAYER_STEP_H
#define STAGES_TRAIN_STEP_LAYER_STEP_H

#include "common/base/arena.h"
#include "common/base/error.h"
#include "stages/engine/stage.h"
#include "stages/plan/model/run_loss.h"
#include "stages/train-step/step_input.h"
#include "store/records/round/gradient.h"

struct layer_step { /* all borrowed; each pass resets the arena */
    const struct stage_context *context;
    struct step_input *input;
    const struct run_loss *loss;
    struct arena *arena;
};

/* Computes and publishes the record of a unit step-layer. Fails: ERROR_NOT_FOUND, ERROR_CORRUPT
 * for a record that it reads; ERROR_INPUT for a loss that is not finite. */
MUST_CHECK enum error_code layer_step_pass(const struct layer_step *step, const struct unit *unit,
                                           struct error *err);
/* Computes the last pass. Writes the gradient of the slot to value [value_count of the model],
 * and the fields of its record to *out. Fails: as layer_step_pass(), also ERROR_INPUT for a
 * gradient that is not finite. */
MUST_CHECK enum error_code layer_step_last(const struct layer_step *step, const struct unit *unit,
                                           float *value, struct gradient *out, struct error *err);

/* Counts, in an arena that counts, the most that a backward pass through `layer` (from 0) takes.
 * Writes to *around the bytes of the records of other layers that it holds beside the arena.
 * Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code layer_step_count(const struct model *model, int layer,
                                            const struct model_input *input,
                                            const struct model_workspace *workspace,
                                            size_t *around);

#endif
