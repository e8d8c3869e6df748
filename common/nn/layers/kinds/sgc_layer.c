/*
 * Simplified graph convolution (Wu and others 2019), as in PyG's SGConv:
 *
 *   y = A^K x W^T + b          A as in gcn_weights.h
 *
 * This layer is the last hop and the matrix; below it are K - 1 layers of kind propagate.
 */
#include "common/nn/layers/gcn_weights.h"
#include "common/nn/layers/layer.h"
#include "common/nn/operators/first_bounds.h"

static int parameters(const struct model_layer *layer, struct layer_parameter *out)
{
    const uint32_t rows = layer->config.output_dim, cols = layer->input_dim;
    const float bound = layer_linear_bound(cols);
    out[0] = (struct layer_parameter){.suffix = "lin.weight",
                                      .dgl = "fc.weight",
                                      .dim_count = 2,
                                      .rows = rows,
                                      .cols = cols,
                                      .bound = bound};
    out[1] = (struct layer_parameter){.suffix = "lin.bias",
                                      .dgl = "fc.bias",
                                      .dim_count = 1,
                                      .rows = rows,
                                      .cols = 1,
                                      .bound = bound};
    return 2;
}

static int build(const struct model_outline *outline, struct layer_config layer[LAYER_COUNT_MAX])
{
    const int last = outline->hop_count - 1;
    if (outline->hop_count > LAYER_COUNT_MAX)
        return -1;
    for (int i = 0; i < last; i++)
        layer[i] = (struct layer_config){.kind = LAYER_PROPAGATE,
                                         .output_dim = outline->input_dim,
                                         .activation = ACTIVATION_NONE};
    layer[last] = layer_of_outline(outline, LAYER_SGC, true);
    return outline->hop_count;
}

static const char dgl_note[] =
    "DGL's SGConv adds no loops of its own. On an undirected graph it gives the answers of this "
    "model after\n"
    "    g = dgl.add_self_loop(dgl.remove_self_loop(g))\n";

const struct layer_type sgc_layer = {
    .pyg_name = "SGConv",
    .prefix = "",
    .dgl_note = dgl_note,
    .uses_edges = true,
    .reads_edges = 1U << EDGE_WEIGHT,
    .divides_by_ends = true,
    .needs_degree = true,
    .build = build,
    .parameters = parameters,
    .projects_first = gcn_weights_project_first,
    .weigh = gcn_weights,
};
