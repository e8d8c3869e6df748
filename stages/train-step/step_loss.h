/*
 * step_loss - the loss of a step's seeds, and what is never published: numbers that are not finite.
 */
#ifndef STAGES_TRAIN_STEP_STEP_LOSS_H
#define STAGES_TRAIN_STEP_STEP_LOSS_H

#include "common/base/error.h"
#include "common/nn/tasks/task.h"
#include "stages/engine/stage.h"
#include "stages/train-step/step_batch.h"

#include <stdint.h>

/* Fails: ERROR_INPUT saying which value of `what` [count] is not finite. */
MUST_CHECK enum error_code step_check_finite(const float *value, uint64_t count, const char *what,
                                             struct error *err);
/* Of the loss over `what`, and of `count` logits. Fails: ERROR_INPUT. */
MUST_CHECK enum error_code step_loss_check(const struct loss_result *loss, const char *what,
                                           const float *logits, uint64_t count, struct error *err);
/* The loss of the seeds by logits [seeds, classes] and labels (rows of the task's form), and its
 * gradient for the logits into `slope`, as large. Fails: as step_loss_check(). */
MUST_CHECK enum error_code step_loss_of_seeds(const struct stage_context *context,
                                              const struct loss_rule *rule,
                                              const struct step_batch *batch, const float *logits,
                                              const void *labels, float *slope,
                                              struct loss_result *loss, struct error *err);
/* The loss as a gradient's record has it, so that slots can be added up: `sum` is the mean times
 * the rows that it is over. Where no labelled row weighs anything, the mean is undefined, and the
 * slot is one without seeds. */
struct loss_result step_loss_of_slot(const struct loss_result *loss);

#endif
