/*
 * The graph convolution of Morris and others 2019, as in PyG's GraphConv:
 *
 *   y_i = lin_rel(sum over the neighbours j of i of w_ij x_j) + lin_root(x_i)
 *
 * or their mean, or in each column their maximum (neighbor_weights.h). lin_rel has the bias,
 * lin_root has none.
 */
#include "common/nn/layers/layer.h"
#include "common/nn/layers/neighbor_weights.h"
#include "common/nn/operators/first_bounds.h"
#include "common/nn/typed/neighbor_relations.h"

static int parameters(const struct model_layer *layer, struct layer_parameter *out)
{
    const uint32_t rows = layer->config.output_dim, cols = layer->input_dim;
    const float bound = layer_linear_bound(cols);
    out[0] = (struct layer_parameter){
        .suffix = "lin_rel.weight", .dim_count = 2, .rows = rows, .cols = cols, .bound = bound};
    out[1] = (struct layer_parameter){
        .suffix = "lin_rel.bias", .dim_count = 1, .rows = rows, .cols = 1, .bound = bound};
    out[2] = (struct layer_parameter){.suffix = "lin_root.weight",
                                      .dim_count = 2,
                                      .rows = rows,
                                      .cols = layer->own_dim,
                                      .bound = layer_linear_bound(layer->own_dim)};
    return 3;
}

const struct layer_type graph_conv_layer = {
    .pyg_name = "GraphConv",
    .uses_edges = true,
    .reads_edges = 1U << EDGE_WEIGHT,
    .aggr = LAYER_AGGR_ADD,
    .parameters = parameters,
    .projects_first = neighbor_weights_project_first,
    .weigh = neighbor_weights,
    .typed = &neighbor_relations,
};
