/*
 * relation_input - aggregates the first layer's rows of each relation before the weights are known.
 *
 * It does for a typed model what input_aggregation.h does for a plain one: in a layer that sums
 * (typed_layer.h), the aggregated rows depend only on the mini-batch and the input rows. They are
 * computed relation by relation, tile by tile, while a worker waits, and forward computes the rest
 * (model_input.aggregated_relations). If a type goes through a projection that the layer does not
 * fold (projection_fold.h), its rows depend on the weights, so forward computes the relations from
 * it. The bits equal those of a forward pass that computes everything.
 */
#ifndef COMMON_NN_TYPED_RELATION_INPUT_H
#define COMMON_NN_TYPED_RELATION_INPUT_H

#include "common/nn/typed/typed_layer.h"

/* All arrays are in the arena, and [relations] unless a comment says otherwise. */
struct relation_input { /* {0}: there is nothing to aggregate */
    const struct relation_schema *schema;
    const struct relation_edges *edges;              /* relation_rows_find() */
    struct input_rows rows[RELATION_TYPE_COUNT_MAX]; /* [types] */
    uint32_t *columns;                               /* columns of the relation's sources */
    struct aggregation *aggregation;
    float **aggregated; /* [rows that have edges, columns]; NULL: the relation is left to forward */
    uint32_t *count;    /* rows of `aggregated` that are computed: whole tiles, or all */
    uint32_t at;        /* the relation that is aggregated now */
};

/* Returns whether the model's first layer aggregates rows of relations before it multiplies
 * them. */
bool relation_input_is_possible(const struct model *model);

/* Prepares the aggregation and aggregates nothing yet. Borrows `block` (of the first layer) and the
 * values of rows [types] until the end. Everything else is in the arena, and forward takes no room
 * for it. Fails: ERROR_NO_MEMORY when the arena's limit is reached. */
MUST_CHECK enum error_code relation_input_begin(struct relation_input *out,
                                                const struct model *model,
                                                const struct relation_block *block,
                                                const struct input_rows *rows, struct arena *arena,
                                                struct error *err);
/* Aggregates up to `tile_count` tiles of TILE_ROWS rows (layer_pass.h) of one relation. Returns
 * false when all are aggregated. */
bool relation_input_advance(struct relation_input *input, int64_t tile_count,
                            struct thread_pool *pool);

#endif
