/*
 * neighbor_relations - kinds that keep the own row beside what comes from the neighbours (neighbor_weights.h), by relation.
 *
 *   y_i = sum or mean over the relations r to the type of i of  lin_l_r(what r makes of the neighbours) + lin_r_r(x_i)
 *
 * as PyG's HeteroConv and to_hetero have it of SAGEConv((-1, -1), ...) and GraphConv((-1, -1), ...), and DGL's
 * HeteroGraphConv. The own row's matrices of all relations to a type are added up first, and so are the biases: one product
 * stands for theirs, and its gradient is that of each.
 */
#ifndef COMMON_NN_TYPED_NEIGHBOR_RELATIONS_H
#define COMMON_NN_TYPED_NEIGHBOR_RELATIONS_H

#include "common/nn/typed/typed_layer.h"

/* For struct layer_type.typed, of kinds whose parameters() are the neighbours' matrix, their bias and the own matrix. */
extern const struct typed_kind neighbor_relations;

#endif
