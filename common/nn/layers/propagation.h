/*
 * propagation - layers without parameters, which only move rows along the edges.
 *
 *   y_i = (1 - alpha) (A x)_i + alpha h_i          A as in gcn_weights.h
 *   dx = (1 - alpha) A^T dy,  dh = alpha dy
 *
 * h is the layer's second input (layer.h, reads_start); without one alpha is 0.
 */
#ifndef COMMON_NN_LAYERS_PROPAGATION_H
#define COMMON_NN_LAYERS_PROPAGATION_H

#include "common/nn/layers/layer_pass.h"

/* The functions for struct layer_type. */
int propagation_parameters(const struct model_layer *layer, struct layer_parameter *out);
MUST_CHECK enum error_code propagation_forward(struct layer_pass *pass, bool keep,
                                               struct arena *arena, struct thread_pool *pool,
                                               struct error *err);
MUST_CHECK enum error_code
propagation_backward(struct layer_pass *pass, const struct layer_pass *above,
                     const float *logits_gradient, bool is_first, const struct layer_gradient *out,
                     struct arena *arena, struct thread_pool *pool, struct error *err);

#endif
