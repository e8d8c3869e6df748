/*
 * gat_edges - what the features of edges are to the scores of GAT, as PyG's GATConv with edge_dim has it.
 *
 *   c_k = att_e . W_e f_k = v . f_k      in each head, with v = W_e^T att_e (operators/edge_term.h)
 *
 * Backward, from dv:   datt_e = W_e dv,  dW_e = att_e dv^T
 */
#ifndef COMMON_NN_LAYERS_GAT_EDGES_H
#define COMMON_NN_LAYERS_GAT_EDGES_H

#include "common/nn/layers/attention.h"

/* For struct attention_kind. Finds edge_vector, and room for edge_term; the sums are dv [heads, edge_dim]. */
MUST_CHECK enum error_code gat_edges_find(struct attention *attention, struct arena *arena,
                                          struct error *err);
size_t gat_edges_floats(const struct attention *attention);
void gat_edges_finish(const struct attention *attention, const float *vector_gradient,
                      const struct layer_gradient *out);

#endif
