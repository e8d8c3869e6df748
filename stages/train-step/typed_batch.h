/*
 * typed_batch - a mini-batch of a graph with relations as a step reads it: blocks by relation, nodes and rows by type.
 *
 * What a node type brings to the first layer is struct typed_input: its nodes in the batch, under both of their names, and
 * the rows of these, one each, as wide as model.config.types.input_dim says. Rows come from the type's feature shards
 * (typed_features.h). Of a type without features there are none yet: whoever has others, a learnable embedding for
 * instance, puts them in place of `rows`, or beside them, and asks for their gradient with `wants_gradient`; after the
 * model's backward, model_input_gradient(trace, type) has it, a row for each node, in their order.
 */
#ifndef STAGES_TRAIN_STEP_TYPED_BATCH_H
#define STAGES_TRAIN_STEP_TYPED_BATCH_H

#include "common/base/error.h"
#include "common/nn/model.h"
#include "stages/plan/edge_use.h"
#include "stages/train-step/typed_features.h"
#include "store/objects/keys.h"
#include "store/records/mini_batch.h"

#include <stdbool.h>
#include <stdint.h>

struct typed_batch { /* {0} is empty; typed_batch_release() */
    struct mini_batch batch;
    struct relation_block
        *block; /* [hops], from the input side; in the batch's memory, as is the next */
    uint32_t
        *number[RELATION_TYPE_COUNT_MAX]; /* [nodes of the type]: among all nodes of the type */
    struct input_rows
        rows[RELATION_TYPE_COUNT_MAX]; /* features, once they were brought; else {0} */
};

/* The nodes of all types, and what the first layer reads of them; borrowed from the batch. Arrays of a type each, so that
 * struct model_input can have them. */
struct typed_input {
    const struct relation_block *block; /* [hops]; NULL: of a graph without relations */
    uint32_t target_type,
        seed_count; /* seeds are the first nodes of the target type, of pairs those of each type */
    uint32_t count[RELATION_TYPE_COUNT_MAX];
    const uint32_t *node[RELATION_TYPE_COUNT_MAX];   /* [count] partition ids */
    const uint32_t *number[RELATION_TYPE_COUNT_MAX]; /* [count] among all nodes of the type */
    struct input_rows rows[RELATION_TYPE_COUNT_MAX]; /* [count]; base NULL: none yet */
    bool wants_gradient[RELATION_TYPE_COUNT_MAX];    /* of these */
    struct seed_pairs pairs;                         /* of a task of pairs */
};

/* Reads the record `key`; what *out held is forgotten, but for its memory.
 * Fails: ERROR_NOT_FOUND; ERROR_CORRUPT when the batch does not suit the model, its schema or the partition. */
MUST_CHECK enum error_code typed_batch_read(struct store *store, const struct key *key,
                                            const char *run_id, const struct model *model,
                                            const struct edge_use *use,
                                            const struct typed_features *features,
                                            struct typed_batch *out, struct error *err);
/* {0} of an empty batch. */
struct typed_input typed_batch_input(const struct typed_batch *batch, uint32_t target_type);
void typed_batch_forget(struct typed_batch *batch);
void typed_batch_release(struct typed_batch *batch);

/* Nodes of a type in the batch. */
static inline uint32_t typed_batch_count(const struct typed_batch *batch, uint32_t type)
{
    return batch->batch.node_begin[type + 1] - batch->batch.node_begin[type];
}

#endif
