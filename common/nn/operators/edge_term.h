/*
 * edge_term - computes what the features of an edge add to the scores of its slot.
 *
 *   c_kh = v_h . f_k          f_k: the features of the edge of slot k, v [heads, dim]
 *
 * In a block that is not bipartite, the slot of a destination itself uses the mean of the features
 * of its other edges, or 0 if it has none. PyG fills in the features of self-loops in the same way
 * (fill_value "mean"). The backward pass reads dc of all slots: dv_h = sum over k of dc_kh f_k.
 */
#ifndef COMMON_NN_OPERATORS_EDGE_TERM_H
#define COMMON_NN_OPERATORS_EDGE_TERM_H

#include "common/nn/operators/edge_slots.h"

/* Writes the terms of the slots of the destinations first .. end - 1 into term [slots, heads],
 * an array over all slots. The number of columns, `dim`, is shape->block.edge_feature_dim. */
void edge_term(const struct edge_shape *shape, const float *vector, uint32_t first, uint32_t end,
               float *term);
/* Adds the gradient of the vectors to vector_sum [heads, dim], from the gradient of the terms of
 * these destinations [slots, heads]. */
void edge_term_backward(const struct edge_shape *shape, const float *gradient, uint32_t first,
                        uint32_t end, float *vector_sum);

#endif
