/*
 * sparse_layer - the first layer on input rows that are mostly zero.
 *
 * Aggregating such rows would make them dense. So the projection comes first, as a product that
 * skips the zeros, and then the projected rows are aggregated. SAGE has a matrix for the own row;
 * its product is added to the mean instead of lying beside it.
 *
 *   forward   projected = x [W_0^T | W_1^T]              y = aggregate(projected_0) (+ projected_1)
 *   backward  dprojected_0 = A^T dy, dprojected_1 = dy  dW_m^T = x^T dprojected_m
 *
 * Threads share the columns of x. The gradient of a column is summed in the order of rows, so any
 * number of threads gives the same bits.
 */
#ifndef COMMON_NN_LAYERS_SPARSE_LAYER_H
#define COMMON_NN_LAYERS_SPARSE_LAYER_H

#include "common/nn/layers/layer_pass.h"

/* Computes pass->output. `keep`: keeps the values that backward needs. */
MUST_CHECK enum error_code sparse_layer_forward(struct layer_pass *pass, bool keep,
                                                struct arena *arena, struct thread_pool *pool,
                                                struct error *err);
/* Computes the gradients of the matrices from the gradient of the product [destinations,
 * output_dim]. pass->edges must be built. */
MUST_CHECK enum error_code sparse_layer_backward(const struct layer_pass *pass,
                                                 const float *output_gradient,
                                                 const struct layer_gradient *out,
                                                 struct arena *arena, struct thread_pool *pool,
                                                 struct error *err);

#endif
