/*
 * edge_softmax - turns the scores of slots into shares. For each destination and head the shares
 * are positive and their sum is 1.
 *
 *   y_k = exp(s_k - max s) / sum over k' of exp(s_k' - max s)
 *   ds_k = y_k (dy_k - sum over k' of y_k' dy_k')
 *
 * A replaced slot (edge_slots.h) gets 0 and does not count in the sums.
 */
#ifndef COMMON_NN_OPERATORS_EDGE_SOFTMAX_H
#define COMMON_NN_OPERATORS_EDGE_SOFTMAX_H

#include "common/nn/operators/edge_slots.h"

/* Computes the shares of the destinations first .. end - 1 in place. value [slots, heads] covers
 * all destinations. */
void edge_softmax(const struct edge_shape *shape, uint32_t first, uint32_t end, float *value);
/* Turns the gradient of the shares into the gradient of the scores, in place. `share` is the
 * result of edge_softmax(). */
void edge_softmax_backward(const struct edge_shape *shape, const float *share, uint32_t first,
                           uint32_t end, float *gradient);

#endif
