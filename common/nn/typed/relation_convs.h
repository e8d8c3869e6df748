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
 * A kind that divides by what both ends of an edge have (gcn, sgc, appnp, propagate) computes on a
 * relation from a type to itself as on a plain graph, with loops: HeteroConv does so there. PyG
 * refuses such a kind between two types. There the relation has no loops, and its edges are divided
 * by the roots of both degrees in it (gcn_weights.h). The reverse relation tells how many edges
 * begin at a source, so there has to be one.
 *
 * A destination is a row of every relation to its type, also of one that has no edges to it.
 */
#ifndef COMMON_NN_TYPED_RELATION_CONVS_H
#define COMMON_NN_TYPED_RELATION_CONVS_H

#include "common/nn/typed/typed_layer.h"

extern const struct typed_kind relation_convs;

#endif
