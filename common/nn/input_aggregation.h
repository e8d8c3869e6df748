/*
 * input_aggregation - the first layer's rows aggregated before anybody knows its weights.
 *
 * Which rows are aggregated how follows from the mini-batch and the features alone, and takes about a sixth of a
 * step. So it can be done in whatever time there is until the weights of a round come: tile by tile, from
 * the first on, as the forward pass does it, which then does the rest (model_input.aggregated_count). Every bit
 * is that of a forward pass that does it all.
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

struct input_aggregation { /* {0}: nothing is to be aggregated */
    struct message_block block;
    struct input_rows rows;
    struct aggregation aggregation;
    uint32_t dim;
    float *scratch;      /* [threads, scratch_size] */
    size_t scratch_size; /* floats for a thread */
    void
        *aggregated; /* [block.destination_count, aggregated width], in the precision of the rows */
    uint32_t aggregated_count; /* rows that are there: whole tiles, or all */
};

/* Whether the model's first layer aggregates such rows before it projects them. */
bool input_aggregation_is_possible(const struct model *model, const struct input_rows *rows);

/* `block` (of the first layer) and `rows` are borrowed until the end; all else is in the arena: the aggregated
 * rows, which forward then takes no room for, weights of edges and sums. Aggregates nothing yet. `threads`: of
 * the pool that will. Fails: ERROR_NO_MEMORY when the arena's limit is reached. */
MUST_CHECK enum error_code input_aggregation_begin(struct input_aggregation *out,
                                                   const struct model *model,
                                                   const struct message_block *block,
                                                   const struct input_rows *rows, int threads,
                                                   struct arena *arena, struct error *err);
/* Aggregates the next `tile_count` tiles of TILE_ROWS rows (layer_pass.h), or what is left; false: that was all. */
bool input_aggregation_advance(struct input_aggregation *aggregation, int64_t tile_count,
                               struct thread_pool *pool);

#endif
