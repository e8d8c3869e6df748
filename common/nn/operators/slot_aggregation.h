/*
 * slot_aggregation - sums the rows of sources along the edges, with a factor for each slot and head
 * (SpMM).
 *
 *   y_ih = sum over the slots k of i, from source j, of w_kh x_jh     x [sources, heads, channels]
 *   dx_jh = sum over the slots k of source j, to destination i, of w_kh dy_ih
 *
 * All heads may also share the rows, x [sources, dim]: then y_ih = sum of w_kh x_j, and dx_j is
 * summed over the heads too.
 *
 * The gradient of w is edge_score_dot() of dy and x.
 */
#ifndef COMMON_NN_OPERATORS_SLOT_AGGREGATION_H
#define COMMON_NN_OPERATORS_SLOT_AGGREGATION_H

#include "common/nn/operators/edge_slots.h"
#include "common/nn/operators/gather.h"

/* Writes the rows of the destinations first .. end - 1 to y [end - first, heads, channels].
 * weight [slots, heads] covers all slots. */
void slot_aggregation_forward(const struct edge_shape *shape, const float *weight, const float *x,
                              uint32_t first, uint32_t end, float *y);
/* Computes the transpose: reads dy [destinations, heads, channels] and writes the rows of the
 * sources first .. end - 1 to dx [end - first, heads, channels]. `edges` are transposed without
 * self-loops, and numbered. */
void slot_aggregation_backward(const struct edge_shape *shape, const struct transposed_edges *edges,
                               const float *weight, const float *dy, uint32_t first, uint32_t end,
                               float *dx);

/* Works like slot_aggregation_forward() for rows that all heads share, floats of `dim` columns.
 * Writes y [end - first, heads, dim]. */
void slot_aggregation_shared_forward(const struct edge_shape *shape, const float *weight,
                                     const struct input_rows *x, uint32_t dim, uint32_t first,
                                     uint32_t end, float *y);
/* Computes the sum above for some edges of one destination: adds the rows of `source` [count],
 * each multiplied by its weights [count, heads], to y [heads, dim]. */
void slot_aggregation_shared_add(const struct input_rows *x, const uint32_t *source,
                                 const float *weight, uint32_t count, size_t heads, uint32_t dim,
                                 float *y);
/* Computes the transpose for shared rows: reads dy [destinations, heads, dim] and writes dx
 * [end - first, dim]. */
void slot_aggregation_shared_backward(const struct edge_shape *shape,
                                      const struct transposed_edges *edges, const float *weight,
                                      const float *dy, uint32_t dim, uint32_t first, uint32_t end,
                                      float *dx);

#endif
