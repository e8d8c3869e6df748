/*
 * idle_aggregation - aggregates the first layer's rows of the next mini-batch while the next
 * weights are computed.
 *
 * After a worker has published a gradient, it waits for the other slots of the round, for
 * aggregate and for the new weights. By then the next mini-batch has been read, or is being read
 * (batch_reader.h). Its rows are in memory if they fit the budget, and learnable rows may already
 * have the next version (step_publish.h). A separate thread joins the rows and aggregates them
 * tile by tile until the next unit comes; the step then aggregates the rest (step_ahead.h). A
 * wrong guess of the mini-batch costs only idle time.
 *
 * The result lies in the arena of a unit, which nobody else uses between two units. It needs no
 * memory of its own, and a reset of the arena discards it.
 */
#ifndef STAGES_TRAIN_STEP_IDLE_AGGREGATION_H
#define STAGES_TRAIN_STEP_IDLE_AGGREGATION_H

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/nn/model.h"
#include "common/parallel/thread_pool.h"
#include "stages/train-step/batch_reader.h"
#include "stages/train-step/rows/embedding_input.h"
#include "stages/train-step/step_batch.h"
#include "store/objects/keys.h"

#include <stdbool.h>
#include <stdint.h>

struct idle_aggregation;

struct idle_config { /* all borrowed */
    const struct model *model;
    struct batch_reader *reader;
    struct thread_pool *pool; /* used by this thread alone while it aggregates */
    const struct stage_context *context;
    const struct embedding_input *embedding; /* NULL in a run without learnable rows */
};

MUST_CHECK enum error_code idle_aggregation_new(const struct idle_config *config,
                                                struct idle_aggregation **out, struct error *err);
/* Stops and joins the thread; NULL is fine. */
void idle_aggregation_free(struct idle_aggregation *idle);

/* Resets the arena and begins to aggregate the rows that the reader has read ahead, with the
 * current learnable rows. The thread takes at most `room` bytes of the arena. Until
 * idle_aggregation_end() the caller must not use the reader or the arena, or change a learnable
 * row. The step does the whole work for a batch without rows, a batch that is too large for the
 * arena, and a batch whose rows are already aggregated. */
void idle_aggregation_begin(struct idle_aggregation *idle, struct arena *arena, size_t room);
/* The time of the aggregation, by clock_seconds(). */
struct idle_span {
    double began, ended;
};

/* Stops the aggregation; afterwards nobody else uses the arena and the pool. Returns true if the
 * aggregated batch is `key` and its learnable rows have `version`; then *out is the batch with
 * its aggregated rows, and *span the time of the aggregation. Otherwise, and if `key` is NULL,
 * the work is discarded. A second call returns false. */
bool idle_aggregation_end(struct idle_aggregation *idle, const struct key *key, int64_t version,
                          struct step_batch *out, struct idle_span *span);

#endif
