/*
 * Personalised propagation (Gasteiger, Bojchevski, Guennemann 2019), as in PyG's APPNP:
 *
 *   y = (1 - alpha) A x + alpha h          h: the input of the first of these layers; propagation.h
 *
 * A model of this kind is two layers of kind mlp, and one layer of this kind for each fan-out.
 */
#include "common/nn/layers/gcn_weights.h"
#include "common/nn/layers/propagation.h"

static int build(const struct model_outline *outline, struct layer_config layer[LAYER_COUNT_MAX])
{
    const int count = outline->hop_count + 2;
    if (count > LAYER_COUNT_MAX)
        return -1;
    layer[0] = layer_of_outline(outline, LAYER_MLP, false);
    for (int i = 1; i < count; i++)
        layer[i] = (struct layer_config){.kind = i == 1 ? LAYER_MLP : LAYER_APPNP,
                                         .output_dim = outline->output_dim,
                                         .option = outline->layer.option,
                                         .activation = ACTIVATION_NONE};
    return count;
}

static const char dgl_note[] =
    "DGL's APPNPConv adds no loops of its own. Behind the two matrices, on an undirected graph, it "
    "gives the answers\n"
    "of this model after\n"
    "    g = dgl.add_self_loop(dgl.remove_self_loop(g))\n";

const struct layer_type appnp_layer = {
    .pyg_name = "APPNP",
    .dgl_note = dgl_note,
    .uses_edges = true,
    .reads_edges = 1U << EDGE_WEIGHT,
    .divides_by_ends = true,
    .needs_degree = true,
    .keeps_width = true,
    .reads_start = true,
    .build = build,
    .parameters = propagation_parameters,
    .weigh = gcn_weights,
    .forward = propagation_forward,
    .backward = propagation_backward,
};
