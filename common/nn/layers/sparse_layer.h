/*
 * sparse_layer - the first layer on input rows that are mostly zero.
 *
 * Aggregating such rows would make them dense, so the projection comes first, as a product that leaves the zeros out,
 * and then the projected rows are aggregated. The own row of SAGE, which has a matrix of its own, is added to the
 * mean instead of lying beside it.
 *
 *   forward   projected = x [W_0^T | W_1^T]                y = aggregate(projected_0) (+ projected_1)
 *   backward  dprojected_0 = A^T dy, dprojected_1 = dy    dW_m^T = x^T dprojected_m
 *
 * The gradient is made column by column of x, each in the order of rows, and threads share the columns out.
 */
#ifndef COMMON_NN_LAYERS_SPARSE_LAYER_H
#define COMMON_NN_LAYERS_SPARSE_LAYER_H

#include "common/nn/layers/layer_pass.h"

/* Computes pass->output. `keep`: leave what backward needs. */
MUST_CHECK enum error_code sparse_layer_forward(struct layer_pass *pass, bool keep,
                                                struct arena *arena, struct thread_pool *pool,
                                                struct error *err);
/* The gradients of the matrices, given that of the product [destinations, output_dim]. pass->edges are
 * built. */
MUST_CHECK enum error_code sparse_layer_backward(const struct layer_pass *pass,
                                                 const float *output_gradient,
                                                 const struct layer_gradient *out,
                                                 struct arena *arena, struct thread_pool *pool,
                                                 struct error *err);

#endif
