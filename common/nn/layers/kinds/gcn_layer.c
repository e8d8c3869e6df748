/*
 * The graph convolution of Kipf and Welling 2017, as in PyG's GCNConv:
 *
 *   y = A x W^T + b          A as in gcn_weights.h
 *
 * The projection and the aggregation commute.
 */
#include "common/nn/layers/gcn_weights.h"
#include "common/nn/layers/layer.h"
#include "common/nn/operators/first_bounds.h"

/* The bias starts at zero. */
static int parameters(const struct model_layer *layer, struct layer_parameter *out)
{
    const uint32_t rows = layer->config.output_dim, cols = layer->input_dim;
    out[0] = (struct layer_parameter){.suffix = "lin.weight",
                                      .dgl = "weight",
                                      .dgl_transposes = true,
                                      .dim_count = 2,
                                      .rows = rows,
                                      .cols = cols,
                                      .bound = layer_glorot_bound(cols, rows)};
    out[1] = (struct layer_parameter){
        .suffix = "bias", .dgl = "bias", .dim_count = 1, .rows = rows, .cols = 1};
    return 2;
}

static const char dgl_note[] =
    "DGL's GraphConv is not GCN as it stands: it adds no loops and goes by out-degrees. "
    "These lines give the\n"
    "answers of this model on any graph, directed or not:\n"
    "    g = dgl.add_self_loop(dgl.remove_self_loop(g))\n"
    "    u, v = g.edges()\n"
    "    d = g.in_degrees().float()\n"
    "    w = 1 / torch.sqrt(d[u] * d[v])\n"
    "    GraphConv(..., norm=\"none\")      # each layer, called as layer(g, x, "
    "edge_weight=w)\n"
    "On an undirected graph the first line alone, with GraphConv's own norm=\"both\", gives "
    "the same.\n";

const struct layer_type gcn_layer = {
    .pyg_name = "GCN",
    .uses_edges = true,
    .reads_edges = 1U << EDGE_WEIGHT,
    .divides_by_ends = true,
    .dgl_note = dgl_note,
    .needs_degree = true,
    .parameters = parameters,
    .projects_first = gcn_weights_project_first,
    .weigh = gcn_weights,
};
