/*
 * queue_fill - empties the queue of a run and fills it with what storage says is left to do.
 *
 * Any worker that finds the queue lost does the same. The driver does it first, so that no worker has to
 * find out.
 */
#ifndef PIPELINES_QUEUE_FILL_H
#define PIPELINES_QUEUE_FILL_H

#include "pipelines/run_folder.h"
#include "store/work_queue.h"

MUST_CHECK enum error_code queue_fill(const struct run_folder *folder, struct work_queue *queue,
                                      struct error *err);

#endif
