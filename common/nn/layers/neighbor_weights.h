/*
 * neighbor_weights - aggregation for kinds that keep the own row beside the neighbours' row.
 *
 *   mean   the sum of w_ij x_j divided by the number of the edges; 0 without edges
 *   add    the sum; if edges were sampled, times all edges / sampled edges: an unbiased estimate of
 *          the whole sum
 *   max    in each column the maximum of w_ij x_j; 0 without edges; of equal ones only the first
 *          has the gradient
 *
 * w is 1 without edge values. An edge from i to itself is an edge like any other. The number of
 * such loops in the whole graph is not known; a sampled loop counts among the sampled edges and
 * among all edges. The mean of a sampled neighbourhood needs no correction; its maximum can be less
 * than that of all neighbours.
 *
 * Edges with factors (message_block.h) are counted by their factors: add is the sum of factor w_ij
 * x_j, and mean is that sum divided by the number of edges in the whole graph (the degree, plus the
 * loops that were sampled). max ignores factors, and so does attention. A bipartite block has no
 * own row.
 */
#ifndef COMMON_NN_LAYERS_NEIGHBOR_WEIGHTS_H
#define COMMON_NN_LAYERS_NEIGHBOR_WEIGHTS_H

#include "common/nn/layers/layer.h"

/* The function for struct layer_type.weigh; layer->option.aggr selects the aggregation. */
MUST_CHECK enum error_code neighbor_weights(const struct model_layer *layer,
                                            const struct message_block *block, struct arena *arena,
                                            struct aggregation *out, struct error *err);
/* The function for struct layer_type.projects_first: never. */
bool neighbor_weights_project_first(uint32_t input_dim, uint32_t output_dim);

/* Sets the weight of each edge in a sum: its value times its factor, in the arena if it has both;
 * NULL: 1. Indexed like neighbor. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code neighbor_weights_values(const struct message_block *block,
                                                   struct arena *arena, const float **out,
                                                   struct error *err);

/* Returns the factor of the sum over the sampled edges of destination i: 1 if all edges are there,
 * or if edges have factors of their own. */
float neighbor_weights_correction(const struct message_block *block, uint32_t i);

#endif
