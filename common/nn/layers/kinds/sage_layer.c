/*
 * GraphSAGE (Hamilton, Ying, Leskovec 2017), as in PyG's SAGEConv:
 *
 *   y_i = lin_l(mean of x_j over the neighbours j of i) + lin_r(x_i)
 *
 * or their sum, or in each column their maximum (neighbor_weights.h). lin_l has the bias, lin_r has
 * none. With edge values, w_ij x_j replaces x_j, and the mean divides by the number of neighbours,
 * not by the sum of the values. DGL's SAGEConv does the same; PyG's takes no edge values.
 *
 * The neighbours' row and the own row lie side by side, so that both projections are one product.
 */
#include "common/nn/layers/layer.h"
#include "common/nn/layers/neighbor_weights.h"
#include "common/nn/operators/first_bounds.h"
#include "common/nn/typed/neighbor_relations.h"

static int parameters(const struct model_layer *layer, struct layer_parameter *out)
{
    const uint32_t rows = layer->config.output_dim, cols = layer->input_dim;
    const float bound = layer_linear_bound(cols);
    out[0] = (struct layer_parameter){.suffix = "lin_l.weight",
                                      .dgl = "fc_neigh.weight",
                                      .dim_count = 2,
                                      .rows = rows,
                                      .cols = cols,
                                      .bound = bound};
    out[1] = (struct layer_parameter){.suffix = "lin_l.bias",
                                      .dgl = "fc_self.bias",
                                      .dim_count = 1,
                                      .rows = rows,
                                      .cols = 1,
                                      .bound = bound};
    out[2] = (struct layer_parameter){.suffix = "lin_r.weight",
                                      .dgl = "fc_self.weight",
                                      .dim_count = 2,
                                      .rows = rows,
                                      .cols = layer->own_dim,
                                      .bound = layer_linear_bound(layer->own_dim)};
    return 3;
}

const struct layer_type sage_layer = {
    .pyg_name = "GraphSAGE",
    .uses_edges = true,
    .reads_edges = 1U << EDGE_WEIGHT,
    .aggr = LAYER_AGGR_MEAN,
    .parameters = parameters,
    .projects_first = neighbor_weights_project_first,
    .weigh = neighbor_weights,
    .typed = &neighbor_relations,
};
