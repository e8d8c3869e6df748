/*
 * idle_aggregation - aggregates the first layer's rows of the next mini-batch while the weights are being made.
 *
 * From the gradient that a worker publishes to the weights it goes on with, it has nothing to do: other slots
 * of the round, aggregate, and the way there and back. The next mini-batch has been read by then, or is being
 * read (batch_reader.h), in the budget its rows are in memory, and learnable rows may be of the next version already
 * (step_publish.h). So a thread of its own puts them in their places and aggregates, some tiles at a time, until the next unit
 * comes, and the step does the rest (step_ahead.h). When the guess of a
 * mini-batch is wrong that is time which nobody else wanted.
 *
 * What is made lies in the arena of a unit, which nobody uses between two of them. So it takes no memory of
 * its own, and is gone when the arena is reset.
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
    struct thread_pool *pool; /* the thread's own while it aggregates */
    const struct stage_context *context;
    const struct embedding_input *embedding; /* NULL: a run without learnable rows */
};

MUST_CHECK enum error_code idle_aggregation_new(const struct idle_config *config,
                                                struct idle_aggregation **out, struct error *err);
/* Stops and joins the thread; NULL is fine. */
void idle_aggregation_free(struct idle_aggregation *idle);

/* Resets the arena and begins to aggregate the rows of what the reader reads, or has read, ahead, with learnable rows as they
 * are now; `room`: bytes of it that may be taken. Until idle_aggregation_end() nobody else asks anything of reader or arena, or changes a learnable row. A batch
 * without rows, or that is too large for the arena, is left to the step; one with aggregated rows, too. */
void idle_aggregation_begin(struct idle_aggregation *idle, struct arena *arena, size_t room);
/* When, by clock_seconds(). */
struct idle_span {
    double began, ended;
};

/* Ends it: nobody touches arena and pool any more. True: *out is the batch `key`, learnable rows are those of `version`, and what
 * was aggregated is there; *span is when that was done. Else, and with `key` NULL, nothing is there. Once: afterwards there is
 * nothing. */
bool idle_aggregation_end(struct idle_aggregation *idle, const struct key *key, int64_t version,
                          struct step_batch *out, struct idle_span *span);

#endif
