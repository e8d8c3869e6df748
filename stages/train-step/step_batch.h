/*
 * step_batch - one mini-batch as the model reads it: blocks by relation, and by type the rows of
 * its nodes with learnable ones in their place.
 *
 * It is made of a prepared batch (prepared_batch.h), whose arrays it borrows, when its unit comes,
 * or before (idle_aggregation.h).
 */
#ifndef STAGES_TRAIN_STEP_STEP_BATCH_H
#define STAGES_TRAIN_STEP_STEP_BATCH_H

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/nn/model.h"
#include "common/nn/typed/relation_input.h"
#include "stages/train-step/prepared_batch.h"
#include "stages/train-step/rows/embedding_input.h"

#include <stdbool.h>
#include <stdint.h>

struct step_batch { /* arrays are of node types */
    /* Seeds are the first nodes of the target type, in a task of pairs the first nodes of each
     * type. */
    uint32_t target_type, seed_count;
    const float *seed_weight; /* [seed_count], what the loss of each counts; NULL: 1 */
    struct seed_pairs pairs;  /* of a task of pairs */
    uint32_t count[RELATION_TYPE_COUNT_MAX];         /* nodes */
    const uint32_t *node[RELATION_TYPE_COUNT_MAX];   /* [count] partition ids */
    const uint32_t *number[RELATION_TYPE_COUNT_MAX]; /* [count] among all nodes of the type */
    struct input_rows rows[RELATION_TYPE_COUNT_MAX]; /* [count]; base NULL: there are none */
    bool wants_gradient[RELATION_TYPE_COUNT_MAX];    /* of these */
    const struct relation_block *block;              /* [hops], from the input side */
    void *aggregated;                                /* as in struct model_input, as is the next */
    uint32_t aggregated_count;
    struct relation_input relations; /* {0}: nothing is aggregated */
};

/* Without learnable rows. */
void step_batch_take(const struct stage_context *context, const struct prepared_batch *prepared,
                     struct step_batch *out);
/* Puts the learnable rows, which are of the version that is wanted, in the place of features, or
 * behind them; in the arena. `trains`: their gradient will be wanted. */
MUST_CHECK enum error_code step_batch_join(const struct stage_context *context,
                                           const struct embedding_input *embedding, bool trains,
                                           struct arena *arena, struct step_batch *batch,
                                           struct error *err);
/* What the model computes on, borrowed from the batch, as is `dropout` (NULL: none). */
struct model_input step_batch_input(const struct step_batch *batch,
                                    const struct random_stream *dropout);
/* The nodes of a batch that have learnable rows, type by type; how many types those are. */
int step_batch_nodes(const struct stage_context *context, const struct step_batch *batch,
                     struct embedding_nodes nodes[RELATION_TYPE_COUNT_MAX]);

#endif
