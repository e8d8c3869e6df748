/*
 * idle_aggregation - aggregates the first layer's rows of the next mini-batch while the weights are being made.
 *
 * From the gradient that a worker publishes to the weights it goes on with, it has nothing to do: other slots
 * of the round, aggregate, and the way there and back. The next mini-batch has been read by then, or is being
 * read (batch_reader.h), and in the budget its rows are in memory. So a thread of its own aggregates them, some
 * tiles at a time, until the next unit comes, and the step does the rest (common/nn/input_aggregation.h). When the
 * guess of a mini-batch is wrong that is time which nobody else wanted.
 *
 * What is aggregated lies in the arena of a unit, which nobody uses between two of them. So it takes no memory of
 * its own, and is gone when the arena is reset.
 */
#ifndef STAGES_TRAIN_STEP_IDLE_AGGREGATION_H
#define STAGES_TRAIN_STEP_IDLE_AGGREGATION_H

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/nn/input_aggregation.h"
#include "common/nn/model.h"
#include "common/parallel/thread_pool.h"
#include "stages/train-step/batch_reader.h"
#include "store/objects/keys.h"

struct idle_aggregation;

/* All are borrowed; the pool is the thread's own while it aggregates. */
MUST_CHECK enum error_code idle_aggregation_new(const struct model *model,
                                                struct batch_reader *reader,
                                                struct thread_pool *pool,
                                                struct idle_aggregation **out, struct error *err);
/* Stops and joins the thread; NULL is fine. */
void idle_aggregation_free(struct idle_aggregation *idle);

/* Resets the arena and begins to aggregate the rows of what the reader reads, or has read, ahead. Until
 * idle_aggregation_end() nobody else asks anything of reader or arena. A batch without rows, with aggregated ones, or
 * that is too large for the arena is left to the step. */
void idle_aggregation_begin(struct idle_aggregation *idle, struct arena *arena);
/* Ends it: nobody touches arena and pool any more. What was aggregated when that was for the batch `key`, with
 * *seconds that it took; else, and with `key` NULL, {0}. Once: afterwards there is nothing. */
struct input_aggregation idle_aggregation_end(struct idle_aggregation *idle, const struct key *key,
                                              double *seconds);

#endif
