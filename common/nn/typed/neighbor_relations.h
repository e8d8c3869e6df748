/*
 * neighbor_relations - kinds that keep the own row beside the neighbours' (neighbor_weights.h), on
 * typed graphs.
 *
 *   y_i = sum or mean over the relations r to the type of i of
 *         lin_l_r(aggregated neighbours of i in r) + lin_r_r(x_i)
 *
 * as PyG's HeteroConv and to_hetero compute it with SAGEConv((-1, -1), ...) and GraphConv((-1, -1),
 * ...), and DGL's HeteroGraphConv. The own row's matrices of all relations to a type are added
 * first, and so are the biases. One product then replaces one for each relation, and its gradient
 * is the gradient of each matrix.
 */
#ifndef COMMON_NN_TYPED_NEIGHBOR_RELATIONS_H
#define COMMON_NN_TYPED_NEIGHBOR_RELATIONS_H

#include "common/nn/typed/typed_layer.h"

/* For struct layer_type.typed of kinds whose parameters() are the neighbours' matrix, its bias and
 * the own matrix. */
extern const struct typed_kind neighbor_relations;

#endif
