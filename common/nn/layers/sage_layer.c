/*
 * GraphSAGE with the mean aggregator (Hamilton, Ying, Leskovec 2017), as PyG's SAGEConv has it:
 *
 *   y_i = lin_l(mean of x_j over the neighbours j of i) + lin_r(x_i)
 *
 * lin_l has the bias, lin_r has none; the mean over no neighbours is 0; an edge from i to itself is an
 * edge like others. With edge values it is the mean of w_ij x_j: the sum by the number of neighbours, not by that of
 * the values, as DGL's SAGEConv has it; PyG's takes none. A sampled neighbourhood needs no correction: its mean estimates the whole one's.
 *
 * Mean and own row lie side by side, so that both projections are one product.
 */
#include "common/nn/layers/layer.h"

static int parameters(const struct model_layer *layer, struct layer_parameter *out)
{
    const uint32_t rows = layer->output_dim, cols = layer->input_dim;
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
                                      .cols = cols,
                                      .bound = bound};
    return 3;
}

static bool projects_first(uint32_t input_dim, uint32_t output_dim)
{
    (void)input_dim;
    (void)output_dim;
    return false;
}

static enum error_code weigh(const struct message_block *block, struct arena *arena,
                             struct aggregation *out, struct error *err)
{
    float *scale = NULL;
    const enum error_code rc =
        arena_new(arena, &scale, block->destination_count, "the weights of means", err);
    if (rc != ERROR_NONE)
        return rc;
    for (uint32_t i = 0; !arena->counts && i < block->destination_count; i++) {
        const uint32_t count = block->row_start[i + 1] - block->row_start[i];
        scale[i] = count ? 1 / (float)count : 0;
    }
    *out = (struct aggregation){.destination_count = block->destination_count,
                                .destination_scale = scale,
                                .edge_value = block->edge_value,
                                .self_beside = true};
    return ERROR_NONE;
}

const struct layer_type sage_layer = {
    .pyg_name = "GraphSAGE",
    .uses_edges = true,
    .parameters = parameters,
    .projects_first = projects_first,
    .weigh = weigh,
};
