/*
 * metrics_text - where a run stands as Prometheus reads it: the text exposition format 0.0.4.
 *
 *   # HELP graphmill_units_waiting Units that wait in the queue.
 *   # TYPE graphmill_units_waiting gauge
 *   graphmill_units_waiting{run="cora-1f...",stage="train-step"} 12
 *
 * What is not known (the queue while Redis is away, a loss before the first snapshot) has no line. graphmill_units_waiting is what
 * an autoscaler goes by: units that more workers of a stage could take. None could once the run is finished, or a stage has failed for good, for which
 * all end: it is 0 then, whatever the queue still holds.
 */
#ifndef PIPELINES_METRICS_TEXT_H
#define PIPELINES_METRICS_TEXT_H

#include "common/base/error.h"
#include "pipelines/run_status.h"

#include <stdbool.h>
#include <stddef.h>

/* A label of every line beside that of the run. */
struct metrics_label {
    const char *name, *value;
};

/* Whether it may be one: letters, digits and "_", no digit first, and none of the names that the lines have. */
bool metrics_label_is_free(const char *name, size_t size);

/* `label` may be NULL. *text [*size] and a NUL, the caller's: memory_free(). Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code metrics_text_make(const struct run_folder *folder,
                                             const struct run_status *status,
                                             const struct metrics_label *label, char **text,
                                             size_t *size, struct error *err);

#endif
