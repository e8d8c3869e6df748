/*
 * Moves rows along the edges with GCN's weights, without parameters: y = A x (propagation.h).
 *
 * This is PyG's APPNP of one hop with alpha 0. It lies below a layer of kind sgc.
 */
#include "common/nn/layers/gcn_weights.h"
#include "common/nn/layers/propagation.h"

const struct layer_type propagate_layer = {
    .pyg_name = "APPNP",
    .uses_edges = true,
    .reads_edges = 1U << EDGE_WEIGHT,
    .divides_by_ends = true,
    .needs_degree = true,
    .keeps_width = true,
    .parameters = propagation_parameters,
    .weigh = gcn_weights,
    .forward = propagation_forward,
    .backward = propagation_backward,
};
