/*
 * step_batch - one mini-batch as the model reads it: blocks by relation, and rows by node type,
 * with learnable rows joined to them.
 *
 * It is made from a prepared batch (prepared_batch.h), whose arrays it borrows, when its unit
 * begins, or earlier (idle_aggregation.h).
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

struct step_batch { /* arrays are indexed by node type */
    /* Seeds are the first nodes of the target type. In a task of pairs, they are the first nodes
     * of each type. */
    uint32_t target_type, seed_count;
    const float *seed_weight; /* [seed_count], weight of each seed in the loss; NULL: 1 */
    struct seed_pairs pairs;  /* in a task of pairs */
    uint32_t count[RELATION_TYPE_COUNT_MAX];       /* nodes */
    const uint32_t *node[RELATION_TYPE_COUNT_MAX]; /* [count] partition ids */
    /* [count] numbers among all nodes of the type */
    const uint32_t *number[RELATION_TYPE_COUNT_MAX];
    struct input_rows rows[RELATION_TYPE_COUNT_MAX]; /* [count]; base is NULL if there are none */
    /* whether the step needs the gradient of the rows */
    bool wants_gradient[RELATION_TYPE_COUNT_MAX];
    const struct relation_block *block; /* [hops], from the input side */
    void *aggregated;                   /* as in struct model_input, like aggregated_count */
    uint32_t aggregated_count;
    struct relation_input relations; /* {0}: nothing is aggregated */
};

/* Makes *out from a prepared batch, without learnable rows. */
void step_batch_take(const struct stage_context *context, const struct prepared_batch *prepared,
                     struct step_batch *out);
/* Puts the learnable rows in place of the features, or behind them; the joined rows lie in the
 * arena. The state must have the wanted version. `trains`: the step will need their gradient. */
MUST_CHECK enum error_code step_batch_join(const struct stage_context *context,
                                           const struct embedding_input *embedding, bool trains,
                                           struct arena *arena, struct step_batch *batch,
                                           struct error *err);
/* Returns the input of the model. It borrows from the batch, and `dropout` (NULL: no dropout). */
struct model_input step_batch_input(const struct step_batch *batch,
                                    const struct random_stream *dropout);
/* Lists the nodes of the batch that have learnable rows, type by type. Returns the number of
 * these types. */
int step_batch_nodes(const struct stage_context *context, const struct step_batch *batch,
                     struct embedding_nodes nodes[RELATION_TYPE_COUNT_MAX]);

#endif
