/*
 * gat_rows - GAT computed on the rows that the layer reads, before their projection.
 *
 * Score and sum are linear in the projected rows p_j = W x_j, so both can be computed from x_j. In
 * each head:
 *
 *   att_src . p_j = v . x_j                   with v = W^T att_src; att_dst alike
 *   y_i = sum over the slots k of w_k W x_j = W z_i,      z_i = sum of w_k x_j
 *
 * Then W is multiplied only with rows of destinations and not with those of all sources. In a
 * sampled neighbourhood, or in a tile of whole neighbourhoods, these are a small part of the
 * products. The cost is that z has a row of the input's width for each head. Backward, with u_i the
 * gradient of y_i, ds as in attention.h, and t the terms of nodes:
 *
 *   dW = u^T z,  dz_i = W^T u_i,  dw_k = dz_i . x_j,  dv = sum of dt_j x_j,
 *   datt = W dv,  dW += att dv^T
 *   dx_j = sum over the slots of j of w_k dz_i + dt_j v
 *
 * Backward uses the partial sums of partial_sums.h, as in attention.h.
 */
#ifndef COMMON_NN_LAYERS_ATTENTION_GAT_ROWS_H
#define COMMON_NN_LAYERS_ATTENTION_GAT_ROWS_H

#include "common/nn/layers/attention/attention.h"

#include <stdbool.h>

/* Returns whether a layer is computed this way: if z has no more numbers than the projected rows of
 * all sources. It decides only by the shapes of layer and block, so that the same batch is always
 * computed the same way. This way then never needs more memory than the other, so memory is counted
 * for the other way while a block is not known yet. */
bool gat_rows_pay(const struct layer_pass *pass);
/* Returns the same for given shapes. */
bool gat_rows_pay_for(const struct model_layer *layer, uint64_t destinations, uint64_t sources);

/* gat_layer.c: on a plain graph, and in a relation with a name */
extern const struct attention_kind gat_kind, gat_relation_kind;

/* Like attention_forward() and attention_backward(), but not for an arena that counts. */
MUST_CHECK enum error_code gat_rows_forward(const struct attention_kind *kind,
                                            struct layer_pass *pass, bool keep, struct arena *arena,
                                            struct thread_pool *pool, struct error *err);
MUST_CHECK enum error_code gat_rows_backward(struct layer_pass *pass,
                                             const struct layer_pass *above,
                                             const float *logits_gradient, bool is_first,
                                             const struct layer_gradient *out, struct arena *arena,
                                             struct thread_pool *pool, struct error *err);

#endif
