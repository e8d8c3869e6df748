/*
 * gat_relations - GAT by relation: what PyG's HeteroConv and to_hetero make of
 * GATConv((-1, -1), channels, heads, add_self_loops=False), and DGL's HeteroGraphConv of GATConv.
 *
 *   y_i = sum or mean over the relations r to the type of i of  (sum over r's edges of w_k lin_src_r(x_j)) + bias_r
 *   s_k = leaky(att_src_r . lin_src_r(x_j) + att_dst_r . lin_dst_r(x_i)), and w their softmax in r alone
 *
 * So u_r = lin_src^T att_src and v_r = lin_dst^T att_dst in relation_gat.h.
 */
#ifndef COMMON_NN_TYPED_GAT_RELATIONS_H
#define COMMON_NN_TYPED_GAT_RELATIONS_H

#include "common/nn/typed/typed_layer.h"

extern const struct typed_kind gat_relations;

#endif
