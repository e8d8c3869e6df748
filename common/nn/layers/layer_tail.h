/*
 * layer_tail - the operations behind a layer that cannot run tile by tile inside it.
 *
 *   forward    z = layer(x) + bias + residual       residual = x_i, or x_i W^T if the widths differ
 *              u = norm(z)                          normalisation.h
 *              y = dropout(act(u))
 *   backward   du = dropout(dy) act'(u),  dz through the norm, and the layer's backward continues;
 *              dW = dz^T x, and the layer below also gets dz or dz W for the rows of destinations
 *
 * dy is a sum: the gradient that the layer above left, and the parts that other readers of this
 * output left.
 *
 * A batch norm uses the statistics of the destinations of the mini-batch if a backward pass
 * follows. Otherwise, and for a mini-batch of a single row, it uses the running ones. In the places
 * of the gradients of running statistics, backward writes the statistics of the batch, which are no
 * gradient: the mean, the mean squared distance from it, and the number of rows (0: the running
 * ones were used). They so become part of the slot's record, and the task that makes the step
 * computes the new running statistics from them.
 *
 * Most layers have no tail: ReLU with dropout runs while a tile is in cache (layer_pass.h). In fp32
 * alone. Threads share the work as partial_sums.h describes.
 */
#ifndef COMMON_NN_LAYERS_LAYER_TAIL_H
#define COMMON_NN_LAYERS_LAYER_TAIL_H

#include "common/nn/layers/layer_pass.h"
#include "common/nn/operators/normalisation.h"

struct layer_tail {
    struct activation dropout;  /* only drop_below, scale and stream are used */
    const float *residual;      /* [output_dim, input_dim]; NULL: no residual, or the row itself */
    const float *weight, *bias; /* of the norm: [output_dim] each */
    const float *running[2];    /* mean and variance */
    bool uses_batch;            /* a batch norm that uses the statistics of the mini-batch */
    float *mean, *scale;        /* [output_dim]; a layer norm has only scale [destinations] */
    struct column_statistics batch;
    float *output; /* [destinations, output_dim]: y; the caller's */
    /* same shape: x^ of the norm, or u. The same array as `output` without a backward pass */
    float *before;
};

/* The places of the gradients; NULL if there is no such tensor. */
struct layer_tail_gradient {
    float *residual, *weight, *bias;
    float *batch_mean, *batch_variance, *batch_count;
};

/* A part of the gradient of an output: that of its first rows. */
struct gradient_part {
    const float *row;
    size_t stride;
    uint32_t row_count;
};
struct gradient_parts {
    int count;
    struct gradient_part part[LAYER_COUNT_MAX];
};

/* Prepares the tail before the layer's forward, with pass->output set: the layer then computes z
 * without the residual. */
MUST_CHECK enum error_code layer_tail_begin(struct layer_tail *tail, const struct model *model,
                                            const float *value, struct layer_pass *pass, bool keep,
                                            struct arena *arena, struct error *err);
/* Reserves the room of a tail whose parameters are set already. */
MUST_CHECK enum error_code layer_tail_place(struct layer_tail *tail, struct layer_pass *pass,
                                            bool keep, struct arena *arena, struct error *err);
/* Runs the tail after the layer's forward: then pass->output is y. */
MUST_CHECK enum error_code layer_tail_forward(struct layer_tail *tail, struct layer_pass *pass,
                                              struct arena *arena, struct thread_pool *pool,
                                              struct error *err);
struct tail_backward {
    const struct layer_tail *tail;
    const struct layer_pass *pass;
    /* after its own backward; NULL: the parts are the whole gradient */
    const struct layer_pass *above;
    const struct gradient_parts *parts;
    bool is_first; /* leaves no gradient for a layer below */
    struct layer_tail_gradient gradient;
    /* Results, in the arena: dz [destinations, output_dim], and the part of the gradient of the
     * layer below, which has no rows if there is none. */
    float *layer_gradient;
    struct gradient_part below;
};
/* Runs the tail's backward pass: sets layer_gradient and below, and writes `gradient`. */
MUST_CHECK enum error_code layer_tail_backward(struct tail_backward *backward, struct arena *arena,
                                               struct thread_pool *pool, struct error *err);

#endif
