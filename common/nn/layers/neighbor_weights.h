/*
 * neighbor_weights - how kinds aggregate that keep the own row beside what comes from the neighbours.
 *
 *   mean   the sum of w_ij x_j by the number of the edges; 0 without any
 *   add    the sum; where fewer edges were sampled than there are, times their number by that of the sampled ones: an
 *          unbiased estimate of the whole sum
 *   max    in each column the greatest of w_ij x_j; 0 without edges; of equal ones the first, alone, has the gradient
 *
 * w is 1 without edge values. An edge from i to itself is an edge like others. (How many of those a node has in the whole
 * graph is not known: what was sampled of them counts among the sampled, and among all.) A sampled neighbourhood needs no
 * correction for its mean; its greatest is less than the whole one's.
 *
 * Edges with factors (message_block.h) are counted by them: add is the sum of factor w_ij x_j, and mean that sum by the
 * number of edges in the whole graph (its degree, and the edges to itself that were sampled). max takes the edges as
 * they are, and so does attention.
 * In a bipartite block the own row is not there.
 */
#ifndef COMMON_NN_LAYERS_NEIGHBOR_WEIGHTS_H
#define COMMON_NN_LAYERS_NEIGHBOR_WEIGHTS_H

#include "common/nn/layers/layer.h"

/* For struct layer_type.weigh, by layer->option.aggr. */
MUST_CHECK enum error_code neighbor_weights(const struct model_layer *layer,
                                            const struct message_block *block, struct arena *arena,
                                            struct aggregation *out, struct error *err);
/* For struct layer_type.projects_first: never. */
bool neighbor_weights_project_first(uint32_t input_dim, uint32_t output_dim);

/* What an edge counts in a sum: its value times its factor, in the arena where it has both. NULL: 1. Indexed like neighbor.
 * Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code neighbor_weights_values(const struct message_block *block,
                                                   struct arena *arena, const float **out,
                                                   struct error *err);

/* The factor of the sum over the sampled edges of destination i: 1 when they are all, or have factors of their own. */
float neighbor_weights_correction(const struct message_block *block, uint32_t i);

#endif
