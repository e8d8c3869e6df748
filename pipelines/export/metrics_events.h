/*
 * metrics_events - converts the lines of metrics.jsonl to scalars of TensorBoard.
 *
 *   {"round":7,"epoch":2,"loss":0.5,...}        round/loss at step 7, ...
 *   {"snapshot":8,...,"valid_loss":0.6,...}     snapshot/valid_loss at step 8, ...
 *
 * Null values, epoch numbers and the number of the best snapshot become no scalars.
 */
#ifndef PIPELINES_EXPORT_METRICS_EVENTS_H
#define PIPELINES_EXPORT_METRICS_EVENTS_H

#include "common/base/error.h"
#include "common/formats/arrays/event_file.h"

/* Adds the scalars of text [size]. Messages name the text by `name`. A last line without a line end
 * is skipped. Fails: ERROR_CORRUPT naming the line; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code metrics_events_add(struct event_file *file, const char *text,
                                              size_t size, const char *name, struct error *err);

#endif
