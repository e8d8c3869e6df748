/*
 * A matrix for each row, without the graph, as in PyG's MLP:
 *
 *   y_i = W x_i + b
 */
#include "common/nn/layers/layer.h"
#include "common/nn/operators/first_bounds.h"

static int parameters(const struct model_layer *layer, struct layer_parameter *out)
{
    const uint32_t rows = layer->config.output_dim, cols = layer->input_dim;
    const float bound = layer_linear_bound(cols);
    out[0] = (struct layer_parameter){.suffix = "weight",
                                      .dgl = "weight",
                                      .dim_count = 2,
                                      .rows = rows,
                                      .cols = cols,
                                      .bound = bound};
    out[1] = (struct layer_parameter){
        .suffix = "bias", .dgl = "bias", .dim_count = 1, .rows = rows, .cols = 1, .bound = bound};
    return 2;
}

/* Makes one hidden layer: without hops no setting says how many there should be. */
static int build(const struct model_outline *outline, struct layer_config layer[LAYER_COUNT_MAX])
{
    layer[0] = layer_of_outline(outline, LAYER_MLP, false);
    layer[1] = layer_of_outline(outline, LAYER_MLP, true);
    return 2;
}

const struct layer_type mlp_layer = {
    .pyg_name = "MLP",
    .prefix = "lins",
    .parameters = parameters,
    .build = build,
};
