/*
 * gcn_weights - how GCN and related kinds aggregate: by the matrix A of Kipf and Welling 2017, as
 * PyG's gcn_norm computes it.
 *
 *   (A x)_i = sum over j in N(i) and i itself of w_ij x_j / sqrt(d_i d_j)
 *
 * Without edge values w is 1, and d is the in-degree in the whole graph without self loops, plus
 * one: exactly one loop replaces all edges from a node to itself. With edge values d is the sum of
 * the values of a node's edges, including its edges to itself, and w_ii is the sum of the values of
 * these loops. If a node has no edge to itself, w_ii is 1, and d is 1 more.
 *
 * Parallel edges add up, and so do several edges of a node to itself: A is the matrix that Kipf and
 * Welling's equation, and DGL's GraphConv with EdgeWeightNorm, give for a multigraph. PyG's
 * add_remaining_self_loops keeps only the last loop, in d and in w_ii. A row that was sampled adds
 * up those of its loops that were drawn, and takes 1 if none was.
 *
 * A row that has fewer neighbours than its degree was sampled. Its neighbours' part is multiplied
 * by degree / neighbours, which makes it an unbiased estimate of the whole sum. Edges with factors
 * (message_block.h) are multiplied by these factors instead. The own row is always present, so it
 * is not scaled.
 *
 * A bipartite block, which belongs to a relation between two types, has neither loops nor own rows:
 *
 *   (A x)_i = sum over the edges j -> i of w_ij x_j / sqrt(d_i d_j)
 *
 * where d_i counts the edges of the relation that end in i, and d_j those that begin at j (R-GCN,
 * DGL's GraphConv with norm="both"). PyG's GCNConv takes no pair of types. With edge values d is
 * their sum; a node without edges sends and receives nothing.
 */
#ifndef COMMON_NN_LAYERS_GCN_WEIGHTS_H
#define COMMON_NN_LAYERS_GCN_WEIGHTS_H

#include "common/nn/layers/layer.h"

/* The function for struct layer_type.weigh. */
MUST_CHECK enum error_code gcn_weights(const struct model_layer *layer,
                                       const struct message_block *block, struct arena *arena,
                                       struct aggregation *out, struct error *err);
/* The function for struct layer_type.projects_first. A moves whole rows, so it is cheaper at the
 * smaller width. */
bool gcn_weights_project_first(uint32_t input_dim, uint32_t output_dim);

#endif
