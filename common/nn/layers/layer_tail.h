/*
 * layer_tail - what follows a layer and cannot be done tile by tile inside it.
 *
 *   forward    u = layer(x) + bias               y = dropout(act(u))
 *   backward   du = dropout(dy) act'(u)          and from there the layer goes on
 *
 * dy is a sum: what the layer above asks for, and the parts that other readers of this output left.
 *
 * Most layers have none: ReLU with dropout is done while a tile is in cache (layer_pass.h). In fp32 alone.
 */
#ifndef COMMON_NN_LAYERS_LAYER_TAIL_H
#define COMMON_NN_LAYERS_LAYER_TAIL_H

#include "common/nn/layers/layer_pass.h"

struct layer_tail {
    struct activation dropout; /* drop_below, scale and stream alone */
    float *output;             /* [destinations, output_dim]: y, the caller's */
    float *before;             /* the same: u. `output`, when there is no backward */
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

/* Before the layer's forward, with pass->output set: the layer computes u. */
MUST_CHECK enum error_code layer_tail_begin(struct layer_tail *tail, struct layer_pass *pass,
                                            bool keep, struct arena *arena, struct error *err);
/* After it: pass->output is y. */
MUST_CHECK enum error_code layer_tail_forward(struct layer_tail *tail, struct layer_pass *pass,
                                              struct arena *arena, struct thread_pool *pool,
                                              struct error *err);
/* du [destinations, output_dim] in the arena. `above`, which may be NULL, after its own backward. */
MUST_CHECK enum error_code layer_tail_backward(const struct layer_tail *tail,
                                               const struct layer_pass *pass,
                                               const struct layer_pass *above,
                                               const struct gradient_parts *parts,
                                               struct arena *arena, struct thread_pool *pool,
                                               const float **out, struct error *err);

#endif
