/*
 * relation_convs - a plain kind of layer for each relation, as HeteroConv of PyG runs them.
 *
 *   y_i = share_t (sum over the relations r to the type t of i of conv_r(sources of r, own rows of t)_i)
 *
 * Each relation is one layer_pass on a bipartite block, by the code that plain graphs use: a kind
 * works here when its parameters() give tensors that read own rows model_layer.own_dim columns, and
 * its forward and backward read those through layer_pass_own_rows() and leave own_gradient. Tensors
 * are convs.<k>.convs.<relation>.<the kind's names>, as in PyG. A destination has no loop of its
 * own (add_self_loops=False).
 *
 * A destination is a row of every relation to its type, also of one that has no edges to it.
 */
#ifndef COMMON_NN_TYPED_RELATION_CONVS_H
#define COMMON_NN_TYPED_RELATION_CONVS_H

#include "common/nn/typed/typed_layer.h"

extern const struct typed_kind relation_convs;

#endif
