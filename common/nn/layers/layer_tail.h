/*
 * layer_tail - what follows a layer and cannot be done tile by tile inside it.
 *
 *   forward    z = layer(x) + bias + residual       residual = x_i, or x_i W^T where the widths differ
 *              u = norm(z)                          normalisation.h
 *              y = dropout(act(u))
 *   backward   du = dropout(dy) act'(u),  dz through the norm, and from there the layer goes on;
 *              dW = dz^T x, and the layer below also gets dz or dz W for the rows of the destinations
 *
 * dy is a sum: what the layer above asks for, and the parts that other readers of this output left.
 *
 * The statistics of a batch norm are those of the destinations of the mini-batch when there will be a backward, and the
 * running ones otherwise, and for a mini-batch of a single row. Where the gradients of the running ones would be, backward
 * writes what was found, which is no gradient: the mean, the mean squared distance from it, and of how many rows (0: the
 * running ones were used). So it is part of the slot's record, and who makes the step makes new running ones out of it.
 *
 * Most layers have no tail: ReLU with dropout is done while a tile is in cache (layer_pass.h). In fp32 alone. Work is handed
 * to threads as partial_sums.h says.
 */
#ifndef COMMON_NN_LAYERS_LAYER_TAIL_H
#define COMMON_NN_LAYERS_LAYER_TAIL_H

#include "common/nn/layers/layer_pass.h"
#include "common/nn/operators/normalisation.h"

struct layer_tail {
    struct activation dropout;  /* drop_below, scale and stream alone */
    const float *residual;      /* [output_dim, input_dim]; NULL: none, or the row itself */
    const float *weight, *bias; /* of the norm: [output_dim] each */
    const float *running[2];    /* mean and variance */
    bool uses_batch;            /* a batch norm by the statistics of the mini-batch */
    float *mean, *scale;        /* [output_dim]; of a layer norm scale [destinations] alone */
    struct column_statistics batch;
    float *output; /* [destinations, output_dim]: y, the caller's */
    float *before; /* the same: x^ of the norm, or u. `output`, when there is no backward */
};

/* Where backward puts what it finds; NULL where there is no such tensor. */
struct layer_tail_gradient {
    float *residual, *weight, *bias;
    float *batch_mean, *batch_variance, *batch_count;
};

/* Part of the gradient of an output: of its first rows. */
struct gradient_part {
    const float *row;
    size_t stride;
    uint32_t row_count;
};
struct gradient_parts {
    int count;
    struct gradient_part part[LAYER_COUNT_MAX];
};

/* Before the layer's forward, with pass->output set: the layer computes z without the residual. */
MUST_CHECK enum error_code layer_tail_begin(struct layer_tail *tail, const struct model *model,
                                            const float *value, struct layer_pass *pass, bool keep,
                                            struct arena *arena, struct error *err);
/* Gives a tail whose parameters are set already its room. */
MUST_CHECK enum error_code layer_tail_place(struct layer_tail *tail, struct layer_pass *pass,
                                            bool keep, struct arena *arena, struct error *err);
/* After it: pass->output is y. */
MUST_CHECK enum error_code layer_tail_forward(struct layer_tail *tail, struct layer_pass *pass,
                                              struct arena *arena, struct thread_pool *pool,
                                              struct error *err);
struct tail_backward {
    const struct layer_tail *tail;
    const struct layer_pass *pass;
    const struct layer_pass *above; /* after its own backward; NULL: the parts are all there is */
    const struct gradient_parts *parts;
    bool is_first; /* nothing is left for a layer below */
    struct layer_tail_gradient gradient;
    /* What comes out, in the arena: dz [destinations, output_dim], and the part of the gradient of the layer below,
     * without rows where there is none. */
    float *layer_gradient;
    struct gradient_part below;
};
MUST_CHECK enum error_code layer_tail_backward(struct tail_backward *backward, struct arena *arena,
                                               struct thread_pool *pool, struct error *err);

#endif
