/*
 * step_loss - the loss of the seeds of a step, and the refusal of numbers that are not finite.
 * Such numbers are never published.
 */
#ifndef STAGES_TRAIN_STEP_STEP_LOSS_H
#define STAGES_TRAIN_STEP_STEP_LOSS_H

#include "common/base/error.h"
#include "common/nn/tasks/task.h"
#include "stages/engine/stage.h"
#include "stages/train-step/step_batch.h"

#include <stdint.h>

/* Checks that value [count] is finite. Fails: ERROR_INPUT naming the first value of `what` that
 * is not. */
MUST_CHECK enum error_code step_check_finite(const float *value, uint64_t count, const char *what,
                                             struct error *err);
/* Checks the loss over `what`, and `count` logits. Fails: ERROR_INPUT. */
MUST_CHECK enum error_code step_loss_check(const struct loss_result *loss, const char *what,
                                           const float *logits, uint64_t count, struct error *err);
/* Computes the loss of the seeds from logits [seeds, classes] and labels (rows in the form of
 * the task). Writes its gradient for the logits to `slope` [seeds, classes]. Fails: as
 * step_loss_check(). */
MUST_CHECK enum error_code step_loss_of_seeds(const struct stage_context *context,
                                              const struct loss_rule *rule,
                                              const struct step_batch *batch, const float *logits,
                                              const void *labels, float *slope,
                                              struct loss_result *loss, struct error *err);
/* Returns the loss in the form of a gradient record, so that slots can be added up: `sum` is the
 * mean times the number of rows. If no labelled row has weight, the mean is undefined, and the
 * result is that of a slot without seeds. */
struct loss_result step_loss_of_slot(const struct loss_result *loss);

#endif
