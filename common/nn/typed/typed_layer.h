/*
 * typed_layer - what a kind of layer does on a typed graph (common/graph/relation_block.h).
 *
 * A typed layer reads rows of every node type and gives rows of every node type, all of the layer's width. What follows it
 * (residual, norm, activation, dropout) is done type by type behind it (layer_tail.h), and is not its concern.
 *
 * Rules are those of all layers: the same bits for any number of threads, memory from the arena first, then work. In fp32
 * alone.
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

/* A pass over the rows of one type alone, behind a layer or as their projection. */
struct type_rows {
    struct model_layer layer;
    struct layer_pass pass;
    struct layer_tail tail;
};

/* One layer at work on one block. */
struct typed_pass {
    const struct model *model;
    const struct model_layer *layer;
    const struct relation_schema *schema;
    const float *value; /* of the whole model */
    /* Of the block: counts [types], and of each relation the rows that have edges: `row` is there, ascending. */
    const uint32_t *destination_count, *source_count;
    const struct relation_edges *edges; /* [relations]; NULL: of a kind that uses no edges */
    const struct relation_input
        *ahead;                     /* NULL, or of a kind that sums: what is aggregated already */
    const struct input_rows *input; /* [types]; columns: typed_pass_columns() */
    /* NULL, or [types], of a kind that sums: whose rows come in unprojected (projection_fold.h). */
    const struct projection_fold *fold;
    /* NULL, or of a kind that sums, in inference: [relations] what aggregation_add() made of the sources of the rows that have
     * edges; those of `input` are then destinations alone. */
    const float *const *sum;
    float *const *output; /* [types]: [destinations, output_dim] */
    /* A kind that reads_start (layer.h) reads this: [types], what the layer below the lowest of its
     * kind gave; backward adds to start_gradient [types] [destinations, output_dim] what it finds
     * of those rows. */
    const float *const *start;
    float **start_gradient;
    bool is_inferred;               /* a layer alone, on a tile: sources are those of many tiles */
    struct activation slot_dropout; /* of edges: drop_below, scale and stream alone */
    /* [types]: [sources, columns], which backward fills, all of it; NULL where nobody wants it. */
    float **input_gradient;
    void *state; /* what forward leaves for backward, in the arena */
    /* These are for the layer of a relation (relation_convs.h). */
    struct type_rows *row; /* [types]: what follows the layer */
    /* NULL, or rows of the first relation that are aggregated already, as in struct model_input. */
    void *aggregated;
    uint32_t aggregated_count;
    /* [types]: a pass after its backward, whose input are the rows that the layer gives; NULL: the
     * gradient is in output_gradient, or there is none. */
    const struct layer_pass *const *above;
    /* [types]: backward leaves here the pass that alone reads the rows of a type; NULL: their
     * gradient is in input_gradient. */
    const struct layer_pass **reader;
    const bool *wants_gradient; /* [types]: of the rows that the layer reads */
};

/* Of a type whose rows come in unprojected; else NULL. */
static inline const struct projection_fold *typed_pass_fold(const struct typed_pass *pass,
                                                            uint32_t type)
{
    return pass->fold && pass->fold[type].columns ? &pass->fold[type] : NULL;
}
/* Columns of a type's rows, as they come in. */
static inline uint32_t typed_pass_columns(const struct typed_pass *pass, uint32_t type)
{
    const struct projection_fold *fold = typed_pass_fold(pass, type);
    return fold ? fold->columns : pass->layer->type_input_dim[type];
}

/* Returns what the rows of each relation to a type count in the rows of the type: 1, or their share
 * if they are averaged. */
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
    bool wants_target_rows; /* rows of a type that no relation leads to do not come out of it */
    /* It wants of rows of sources what neighbor_weights() makes of each relation's, and does ReLU and
     * dropout inside, also in bf16 (relation_sums.h). */
    bool sums;
    /* Writes the tensors of the layer. */
    void (*parameters)(struct parameter_writer *writer);
    /* Fails: ERROR_INVALID for what the kind cannot do with these widths and options. NULL: it can do all. */
    enum error_code (*check)(const struct model_config *config, const struct model_layer *layer,
                             struct error *err);
    enum error_code (*forward)(struct typed_pass *pass, bool keep,
                               const struct model_workspace *workspace, struct error *err);
    /* output_gradient [types]: [destinations, output_dim]. Adds to gradient [value_count], of the whole model, what is of
     * its parameters; it is zero there before. */
    enum error_code (*backward)(struct typed_pass *pass, float *const *output_gradient,
                                const struct model_workspace *workspace, float *gradient,
                                struct error *err);
};

/* Number `index` of the layer's tensors: its values, and where its gradient goes. */
static inline const float *typed_parameter(const struct typed_pass *pass, int index)
{
    return pass->value + pass->model->parameter[pass->layer->first_parameter + index].offset;
}
static inline float *typed_gradient(const struct typed_pass *pass, float *gradient, int index)
{
    return gradient + pass->model->parameter[pass->layer->first_parameter + index].offset;
}

#endif
