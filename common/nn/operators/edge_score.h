/*
 * edge_score - a number for each slot and head from the rows at its two ends (SDDMM).
 *
 *   add   s = leaky(a_j + b_i (+ c_k))     a [sources, heads], b [destinations, heads], c [slots, heads] (edge_term.h)
 *   dot   s = sum over c of p_ic q_jc      p [destinations, heads, channels], q [sources, heads, channels]
 *
 * leaky(x) is x above 0 and EDGE_SCORE_SLOPE x below, as in GATConv. The gradient of dot for p and q is the
 * aggregation by slots of the other (slot_aggregation.h); the gradient of that for the slots is dot.
 */
#ifndef COMMON_NN_OPERATORS_EDGE_SCORE_H
#define COMMON_NN_OPERATORS_EDGE_SCORE_H

#include "common/nn/operators/edge_slots.h"
#include "common/nn/operators/gather.h"

#define EDGE_SCORE_SLOPE 0.2F

/* Scores of the destinations first .. end - 1 into score [slots, heads], of all. `edge`: c, or NULL. */
void edge_score_add(const struct edge_shape *shape, const float *source, const float *destination,
                    const float *edge, uint32_t first, uint32_t end, float *score);
/* From the gradient of those scores, in place, that of a_j + b_i + c_k; its sums over the slots of each destination,
 * which are the gradient of b, into destination_gradient [destinations, heads]. */
void edge_score_add_backward(const struct edge_shape *shape, const float *source,
                             const float *destination, const float *edge, uint32_t first,
                             uint32_t end, float *gradient, float *destination_gradient);
/* The sums over the slots of the sources first .. end - 1, which are the gradient of a, into source_gradient
 * [sources, heads]. `edges` are transposed without edges from a node to itself, and numbered. */
void edge_score_add_transposed(const struct edge_shape *shape, const struct transposed_edges *edges,
                               const float *gradient, uint32_t first, uint32_t end,
                               float *source_gradient);

/* As edge_score_add(), but of rows. */
void edge_score_dot(const struct edge_shape *shape, const float *p, const float *q, uint32_t first,
                    uint32_t end, float *score);
/* The same with rows q that heads share, floats [sources, dim]; p [end - first, heads, dim]: of these alone. */
void edge_score_dot_shared(const struct edge_shape *shape, const float *p,
                           const struct input_rows *q, uint32_t dim, uint32_t first, uint32_t end,
                           float *score);

#endif
