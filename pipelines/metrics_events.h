/*
 * metrics_events - the lines of metrics.jsonl as scalars of TensorBoard.
 *
 *   {"round":7,"epoch":2,"loss":0.5,...}        round/loss at step 7, ...
 *   {"snapshot":8,...,"valid_loss":0.6,...}     snapshot/valid_loss at step 8, ...
 *
 * What is null, and the numbers of epochs and of the best snapshot, have no scalar.
 */
#ifndef PIPELINES_METRICS_EVENTS_H
#define PIPELINES_METRICS_EVENTS_H

#include "common/base/error.h"
#include "common/formats/event_file.h"

/* Adds those of text [size]; `name` stands in messages. A last line without its end is left out.
 * Fails: ERROR_CORRUPT naming the line; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code metrics_events_add(struct event_file *file, const char *text,
                                              size_t size, const char *name, struct error *err);

#endif
