/*
 * edge_score - computes a number for each slot and head from the rows at its two ends (SDDMM).
 *
 *   add   s = leaky(a_j + b_i (+ c_k))
 *         a [sources, heads], b [destinations, heads], c [slots, heads] (edge_term.h)
 *   dot   s = sum over c of p_ic q_jc
 *         p [destinations, heads, channels], q [sources, heads, channels]
 *
 * leaky(x) is x above 0 and EDGE_SCORE_SLOPE x below, as in GATConv. In dot, the gradient of p is
 * the aggregation by slots (slot_aggregation.h) of q, and the gradient of q that of p. The gradient
 * of an aggregation by slots with respect to its slot weights is again dot.
 */
#ifndef COMMON_NN_OPERATORS_EDGE_SCORE_H
#define COMMON_NN_OPERATORS_EDGE_SCORE_H

#include "common/nn/operators/edge_slots.h"
#include "common/nn/operators/gather.h"

#define EDGE_SCORE_SLOPE 0.2F

/* Writes the scores of the destinations first .. end - 1 into score [slots, heads], an array
 * over all slots of the block. `edge` is c, or NULL. */
void edge_score_add(const struct edge_shape *shape, const float *source, const float *destination,
                    const float *edge, uint32_t first, uint32_t end, float *score);
/* Turns the gradient of those scores, in place, into the gradient of a_j + b_i + c_k. Writes its
 * sums over the slots of each destination, which are the gradient of b, to destination_gradient
 * [destinations, heads]. */
void edge_score_add_backward(const struct edge_shape *shape, const float *source,
                             const float *destination, const float *edge, uint32_t first,
                             uint32_t end, float *gradient, float *destination_gradient);
/* Writes the sums over the slots of the sources first .. end - 1, which are the gradient of a,
 * to source_gradient [sources, heads]. `edges` are transposed without self-loops, and numbered. */
void edge_score_add_transposed(const struct edge_shape *shape, const struct transposed_edges *edges,
                               const float *gradient, uint32_t first, uint32_t end,
                               float *source_gradient);

/* Works like edge_score_add(), but computes dot from rows. */
void edge_score_dot(const struct edge_shape *shape, const float *p, const float *q, uint32_t first,
                    uint32_t end, float *score);
/* Computes dot with rows q that all heads share, [sources, dim] in floats. p
 * [end - first, heads, dim] holds only the destinations first .. end - 1. */
void edge_score_dot_shared(const struct edge_shape *shape, const float *p,
                           const struct input_rows *q, uint32_t dim, uint32_t first, uint32_t end,
                           float *score);

#endif
