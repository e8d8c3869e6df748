/*
 * input_aggregation - aggregates the first layer's rows before the weights are known.
 *
 * The mini-batch and the features alone decide which rows are aggregated and how; this takes about
 * a sixth of a step. So a worker does it while it waits for the weights of a round. It runs tile by
 * tile from the first on, as the forward pass does, and the forward pass then aggregates the rest
 * (model_input.aggregated_count). The bits equal those of a forward pass that aggregates
 * everything.
 */
#ifndef COMMON_NN_INPUT_AGGREGATION_H
#define COMMON_NN_INPUT_AGGREGATION_H

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/graph/message_block.h"
#include "common/nn/model.h"
#include "common/nn/operators/aggregation.h"
#include "common/parallel/thread_pool.h"

#include <stdbool.h>
#include <stdint.h>

struct input_aggregation { /* {0}: there is nothing to aggregate */
    struct message_block block;
    struct input_rows rows;
    struct aggregation aggregation;
    uint32_t dim;
    float *scratch;      /* [threads, scratch_size] */
    size_t scratch_size; /* floats for a thread */
    /* [block.destination_count, aggregated width], in the precision of the rows */
    void *aggregated;
    uint32_t aggregated_count; /* rows already aggregated: whole tiles, or all */
};

/* Returns whether the model's first layer aggregates such rows before it projects them. */
bool input_aggregation_is_possible(const struct model *model, const struct input_rows *rows);

/* Prepares the aggregation and aggregates nothing yet. Borrows `block` (of the first layer) and
 * `rows` until the end. Takes from the arena the aggregated rows (forward then takes no room for
 * them), the weights of edges and the sums. `threads` is the size of the pool that will run it.
 * Fails: ERROR_NO_MEMORY when the arena's limit is reached. */
MUST_CHECK enum error_code input_aggregation_begin(struct input_aggregation *out,
                                                   const struct model *model,
                                                   const struct message_block *block,
                                                   const struct input_rows *rows, int threads,
                                                   struct arena *arena, struct error *err);
/* Aggregates the next `tile_count` tiles of TILE_ROWS rows (layer_pass.h), or those that remain.
 * Returns false when all rows are aggregated. */
bool input_aggregation_advance(struct input_aggregation *aggregation, int64_t tile_count,
                               struct thread_pool *pool);

#endif
