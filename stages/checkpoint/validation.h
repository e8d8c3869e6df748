/*
 * validation - measures a version of the weights on the validation nodes, from the counts of all
 * slots.
 *
 * Counts are whole numbers and losses are added in slot order, so the result has the same bits
 * whoever evaluated which slot.
 */
#ifndef STAGES_CHECKPOINT_VALIDATION_H
#define STAGES_CHECKPOINT_VALIDATION_H

#include "common/base/error.h"
#include "stages/engine/stage.h"
#include "stages/plan/model/run_loss.h"
#include "stages/plan/settings/validation_metric.h"

#include <stdint.h>

struct validation { /* all NaN without validation nodes */
    double loss, accuracy;
    double metric; /* validation_metric() */
};

/* Checks that the task has the metric. Fails: ERROR_INVALID naming the metrics that it has. */
MUST_CHECK enum error_code validation_check(const struct pipeline_settings *settings,
                                            const struct partition_book *book, struct error *err);

/* Reads the counts of all slots. Fails: ERROR_NOT_FOUND for a slot that was not evaluated;
 * ERROR_CORRUPT; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code validation_read(const struct stage_context *context,
                                           const struct run_loss *loss, int64_t version,
                                           struct validation *out, struct error *err);

#endif
