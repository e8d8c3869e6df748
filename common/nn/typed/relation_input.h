/*
 * relation_input - the first layer's rows of each relation aggregated before anybody knows its weights.
 *
 * What input_aggregation.h is to a plain model: of a layer that sums (typed_layer.h) the aggregated rows follow from the
 * mini-batch and the rows that come in. They are made relation by relation, tile by tile, in whatever time there is, and
 * forward does the rest (model_input.aggregated_relations). Rows of a type that goes through a projection which the layer does
 * not take in (projection_fold.h) are known with the weights alone; relations from it are left to forward. Every bit is that
 * of a forward pass that does it all.
 */
#ifndef COMMON_NN_TYPED_RELATION_INPUT_H
#define COMMON_NN_TYPED_RELATION_INPUT_H

#include "common/nn/typed/typed_layer.h"

/* All arrays in the arena, [relations] unless said. */
struct relation_input { /* {0}: nothing is to be aggregated */
    const struct relation_schema *schema;
    const struct relation_edges *edges;              /* relation_rows_find() */
    struct input_rows rows[RELATION_TYPE_COUNT_MAX]; /* [types] */
    uint32_t *columns;                               /* of the relation's sources */
    struct aggregation *aggregation;
    float **aggregated; /* [rows that have edges, columns]; NULL: of a relation left to forward */
    uint32_t *count;    /* rows of that which are there: whole tiles, or all */
    uint32_t at;        /* the relation that is at work */
};

/* Whether the model's first layer aggregates rows of relations before it multiplies them. */
bool relation_input_is_possible(const struct model *model);

/* `block` (of the first layer) and what rows [types] are of is borrowed until the end; all else is in the arena, and forward takes
 * no room for it. Aggregates nothing yet. Fails: ERROR_NO_MEMORY when the arena's limit is reached. */
MUST_CHECK enum error_code relation_input_begin(struct relation_input *out,
                                                const struct model *model,
                                                const struct relation_block *block,
                                                const struct input_rows *rows, struct arena *arena,
                                                struct error *err);
/* Aggregates up to `tile_count` tiles of TILE_ROWS rows (layer_pass.h) of one relation; false: that was all. */
bool relation_input_advance(struct relation_input *input, int64_t tile_count,
                            struct thread_pool *pool);

#endif
