/*
 * gcn_weights - how GCN and its kin aggregate: by the matrix A of Kipf and Welling 2017, as PyG's gcn_norm has it.
 *
 *   (A x)_i = sum over j in N(i) and i itself of w_ij x_j / sqrt(d_i d_j)
 *
 * Without edge values w is 1, and d is the in-degree in the whole graph without self loops, plus one: edges from a node
 * to itself are replaced by exactly one. With them d is the sum of the values of a node's edges, an edge of the node to
 * itself among them, and w_ii is that one's value; both are 1 where there is none. A row that was sampled without that
 * edge takes w_ii for 1.
 *
 * When a row has fewer neighbours than its degree it was sampled, and the neighbours' part is scaled by degree /
 * neighbours: an unbiased estimate of the whole sum. Edges with factors (message_block.h) are multiplied by those instead. The
 * own row is always there, and counts as it is.
 */
#ifndef COMMON_NN_LAYERS_GCN_WEIGHTS_H
#define COMMON_NN_LAYERS_GCN_WEIGHTS_H

#include "common/nn/layers/layer.h"

/* For struct layer_type.weigh. */
MUST_CHECK enum error_code gcn_weights(const struct model_layer *layer,
                                       const struct message_block *block, struct arena *arena,
                                       struct aggregation *out, struct error *err);
/* For struct layer_type.projects_first: A moves rows about, so it is done at the smaller width. */
bool gcn_weights_project_first(uint32_t input_dim, uint32_t output_dim);

#endif
