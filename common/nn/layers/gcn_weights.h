/*
 * gcn_weights - how GCN and its kin aggregate: by the matrix A of Kipf and Welling 2017, as PyG's
 * gcn_norm has it.
 *
 *   (A x)_i = sum over j in N(i) and i itself of w_ij x_j / sqrt(d_i d_j)
 *
 * Without edge values w is 1, and d is the in-degree in the whole graph without self loops, plus
 * one: edges from a node to itself are replaced by exactly one. With edge values d is the sum of
 * the values of a node's edges, and w_ii is the sum of the values of its edges to itself; d counts
 * those edges too. If a node has no edge to itself, w_ii is 1, and d is 1 more.
 *
 * Parallel edges add up everywhere, and so do several edges of a node to itself: A is what Kipf
 * and Welling's equation and DGL's
 * GraphConv with EdgeWeightNorm make of a multigraph. PyG's add_remaining_self_loops keeps only
 * the last of them, in d and in w_ii.
 * A row that was sampled sums those of its own edges that were drawn, and takes 1 if none was.
 *
 * When a row has fewer neighbours than its degree it was sampled, and the neighbours' part is
 * scaled by degree / neighbours: an unbiased estimate of the whole sum. Edges with factors
 * (message_block.h) are multiplied by those instead. The own row is always there, and counts as it
 * is.
 *
 * A bipartite block, that of a relation between two types, has neither loops nor own rows:
 *
 *   (A x)_i = sum over the edges j -> i of w_ij x_j / sqrt(d_i d_j)
 *
 * with d_i the edges of the relation that end in i, and d_j those that begin at j (R-GCN, DGL's
 * GraphConv with norm="both"). PyG's GCNConv takes no pair of types. With edge values d is their
 * sum; a node without any sends and hears nothing.
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
