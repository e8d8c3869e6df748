/*
 * edge_softmax - scores of slots to shares: for each destination and head they are positive and their sum is 1.
 *
 *   y_k = exp(s_k - max s) / sum over k' of exp(s_k' - max s)
 *   ds_k = y_k (dy_k - sum over k' of y_k' dy_k')
 *
 * A slot that is replaced (edge_slots.h) gets 0, and takes no part.
 */
#ifndef COMMON_NN_OPERATORS_EDGE_SOFTMAX_H
#define COMMON_NN_OPERATORS_EDGE_SOFTMAX_H

#include "common/nn/operators/edge_slots.h"

/* In place, of the destinations first .. end - 1, in value [slots, heads] of all. */
void edge_softmax(const struct edge_shape *shape, uint32_t first, uint32_t end, float *value);
/* From the gradient of the shares that of the scores, in place; `share` is what came out. */
void edge_softmax_backward(const struct edge_shape *shape, const float *share, uint32_t first,
                           uint32_t end, float *gradient);

#endif
