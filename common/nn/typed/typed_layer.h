/*
 * typed_layer - how a kind of layer computes on a typed graph (common/graph/relation_block.h).
 *
 * A typed layer reads and gives rows of every node type; the rows that it gives all have the
 * layer's width. The tail (residual, norm, activation, dropout) runs behind it, type by type
 * (layer_tail.h).
 *
 * The rules of all layers hold: the same bits for any number of threads, and all memory is taken
 * from the arena before work begins. In fp32 alone.
 */
#ifndef COMMON_NN_TYPED_TYPED_LAYER_H
#define COMMON_NN_TYPED_TYPED_LAYER_H

#include "common/graph/relation_block.h"
#include "common/nn/description/parameter_writer.h"
#include "common/nn/layers/layer_pass.h"
#include "common/nn/layers/layer_tail.h"
#include "common/nn/typed/projection_fold.h"

#include <stdbool.h>
#include <stdint.h>

struct relation_input; /* relation_input.h */

/* A pass over the rows of one type alone: the tail of a layer, or the projection of a type. */
struct type_rows {
    struct model_layer layer;
    struct layer_pass pass;
    struct layer_tail tail;
};

/* One layer on one block. */
struct typed_pass {
    const struct model *model;
    const struct model_layer *layer;
    const struct relation_schema *schema;
    const float *value; /* values of the whole model */
    /* The counts of the block [types], and for each relation the rows that have edges: `row` is
     * set, ascending. */
    const uint32_t *destination_count, *source_count;
    const struct relation_edges *edges; /* [relations]; NULL for a kind that uses no edges */
    /* NULL, or for a kind that sums: the rows that are already aggregated */
    const struct relation_input *ahead;
    const struct input_rows *input; /* [types]; columns: typed_pass_columns() */
    /* NULL, or [types] for a kind that sums: the types whose rows come unprojected
     * (projection_fold.h). */
    const struct projection_fold *fold;
    /* NULL, or for a kind that sums, at inference: [relations] the results of aggregation_add()
     * over the sources, for the rows that have edges; the rows of `input` are then destinations
     * alone. */
    const float *const *sum;
    float *const *output; /* [types]: [destinations, output_dim] */
    /* Read by a kind that reads_start (layer.h): [types], the input of the lowest layer in its run
     * of layers of this kind. Backward adds its gradient of these rows to start_gradient [types]
     * [destinations, output_dim]. */
    const float *const *start;
    float **start_gradient;
    bool is_inferred; /* one layer alone, on a tile whose sources are those of many tiles */
    /* dropout of edges; only drop_below, scale and stream are used */
    struct activation slot_dropout;
    /* [types]: [sources, columns], which backward fills completely; NULL if nobody wants it. */
    float **input_gradient;
    void *state; /* values that forward keeps for backward, in the arena */
    /* The fields below are for the layer of a relation (relation_convs.h). */
    struct type_rows *row; /* [types]: the tail of the layer */
    /* NULL, or rows of the first relation that are already aggregated, as in struct model_input. */
    void *aggregated;
    uint32_t aggregated_count;
    /* [types]: a pass after its backward whose input is the rows that the layer gives; NULL: the
     * gradient is in output_gradient, or there is none. */
    const struct layer_pass *const *above;
    /* [types]: backward sets this to the only pass that reads the rows of a type; NULL: their
     * gradient is in input_gradient. */
    const struct layer_pass **reader;
    /* [types]: whether the gradient of the rows that the layer reads is wanted */
    const bool *wants_gradient;
};

/* Returns the fold of a type whose rows come unprojected, otherwise NULL. */
static inline const struct projection_fold *typed_pass_fold(const struct typed_pass *pass,
                                                            uint32_t type)
{
    return pass->fold && pass->fold[type].columns ? &pass->fold[type] : NULL;
}
/* Returns the columns of a type's rows as the layer reads them. */
static inline uint32_t typed_pass_columns(const struct typed_pass *pass, uint32_t type)
{
    const struct projection_fold *fold = typed_pass_fold(pass, type);
    return fold ? fold->columns : pass->layer->type_input_dim[type];
}

/* Returns the weight of each relation's rows in the rows of a type: 1, or the relation's share if
 * they are averaged. */
static inline float typed_pass_share(const struct typed_pass *pass, uint32_t type)
{
    uint32_t count = 0;
    for (uint32_t r = 0; r < pass->schema->relation_count; r++)
        count += pass->schema->relation[r].target_type == type;
    return pass->model->config.types.relation_aggr == RELATION_AGGR_SUM || count == 0
               ? 1
               : 1 / (float)count;
}

struct typed_kind {
    bool wants_target_rows; /* the layer gives no rows of a type that no relation leads to */
    /* The kind needs of source rows only the aggregation of neighbor_weights() for each relation,
     * and computes ReLU and dropout inside, also in bf16 (relation_sums.h). */
    bool sums;
    /* Adds the tensors of the layer to the table. */
    void (*parameters)(struct parameter_writer *writer);
    /* Fails: ERROR_INVALID for widths and options that the kind cannot compute with. NULL: it
     * computes with all. */
    enum error_code (*check)(const struct model_config *config, const struct model_layer *layer,
                             struct error *err);
    enum error_code (*forward)(struct typed_pass *pass, bool keep,
                               const struct model_workspace *workspace, struct error *err);
    /* Runs the backward pass. output_gradient [types]: [destinations, output_dim]. Adds the
     * gradient of its parameters to gradient [value_count], of the whole model, which is zero there
     * before. */
    enum error_code (*backward)(struct typed_pass *pass, float *const *output_gradient,
                                const struct model_workspace *workspace, float *gradient,
                                struct error *err);
};

/* Return the values of tensor `index` of the layer, and the place of its gradient. */
static inline const float *typed_parameter(const struct typed_pass *pass, int index)
{
    return pass->value + pass->model->parameter[pass->layer->first_parameter + index].offset;
}
static inline float *typed_gradient(const struct typed_pass *pass, float *gradient, int index)
{
    return gradient + pass->model->parameter[pass->layer->first_parameter + index].offset;
}

#endif
