/*
 * metrics_text - the status of a run for Prometheus, in the text exposition format 0.0.4.
 *
 *   # HELP graphmill_units_waiting Units that wait in the queue.
 *   # TYPE graphmill_units_waiting gauge
 *   graphmill_units_waiting{run="cora-1f...",stage="train-step"} 12
 *
 * An unknown value (the queue while Redis cannot be reached, a loss before the first snapshot) has
 * no line. graphmill_units_waiting is the input for an autoscaler: the number of units that more
 * workers of a stage could claim. It is 0, whatever the queue still holds, when the run is
 * finished, or when a stage has failed for good, which ends all workers.
 */
#ifndef PIPELINES_QUESTIONS_METRICS_TEXT_H
#define PIPELINES_QUESTIONS_METRICS_TEXT_H

#include "common/base/error.h"
#include "pipelines/questions/run_status.h"

#include <stdbool.h>
#include <stddef.h>

/* A label of every line, next to that of the run. */
struct metrics_label {
    const char *name, *value;
};

/* Returns whether `name` [size] may be such a label: letters, digits and "_", no digit first, and
 * none of the label names that the lines already have. */
bool metrics_label_is_free(const char *name, size_t size);

/* Makes the text. `label` may be NULL. Owns: *text [*size] and a NUL; the caller frees it with
 * memory_free(). Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code metrics_text_make(const struct run_folder *folder,
                                             const struct run_status *status,
                                             const struct metrics_label *label, char **text,
                                             size_t *size, struct error *err);

#endif
