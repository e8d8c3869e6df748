/*
 * slot_aggregation - rows of sources summed along the edges with a factor for each slot and head (SpMM).
 *
 *   y_ih = sum over the slots k of i, from source j, of w_kh x_jh          x [sources, heads, channels]
 *   dx_jh = sum over the slots k of source j, to destination i, of w_kh dy_ih
 *
 * The rows may also be shared by all heads, x [sources, dim]: then y_ih = sum of w_kh x_j, and dx_j sums over heads too.
 *
 * The gradient for w is edge_score_dot() of dy and x.
 */
#ifndef COMMON_NN_OPERATORS_SLOT_AGGREGATION_H
#define COMMON_NN_OPERATORS_SLOT_AGGREGATION_H

#include "common/nn/operators/edge_slots.h"
#include "common/nn/operators/gather.h"

/* Rows of the destinations first .. end - 1 into y [end - first, heads, channels]; weight [slots, heads], of all. */
void slot_aggregation_forward(const struct edge_shape *shape, const float *weight, const float *x,
                              uint32_t first, uint32_t end, float *y);
/* The transpose: from dy [destinations, heads, channels] the rows of the sources first .. end - 1 into dx
 * [end - first, heads, channels]. `edges` are transposed without edges from a node to itself, and numbered. */
void slot_aggregation_backward(const struct edge_shape *shape, const struct transposed_edges *edges,
                               const float *weight, const float *dy, uint32_t first, uint32_t end,
                               float *dx);

/* The same of rows that heads share, floats of `dim` columns: into y [end - first, heads, dim]. */
void slot_aggregation_shared_forward(const struct edge_shape *shape, const float *weight,
                                     const struct input_rows *x, uint32_t dim, uint32_t first,
                                     uint32_t end, float *y);
/* What that does of some edges of one destination: y [heads, dim] += the rows of `source` [count], each with its weights
 * [count, heads]. */
void slot_aggregation_shared_add(const struct input_rows *x, const uint32_t *source,
                                 const float *weight, uint32_t count, size_t heads, uint32_t dim,
                                 float *y);
/* From dy [destinations, heads, dim] into dx [end - first, dim]. */
void slot_aggregation_shared_backward(const struct edge_shape *shape,
                                      const struct transposed_edges *edges, const float *weight,
                                      const float *dy, uint32_t dim, uint32_t first, uint32_t end,
                                      float *dx);

#endif
