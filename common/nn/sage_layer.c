/*
 * GraphSAGE with the mean aggregator (Hamilton, Ying, Leskovec 2017), as PyG's SAGEConv has it:
 *
 *   y_i = lin_l(mean of x_j over the neighbours j of i) + lin_r(x_i)
 *
 * lin_l has the bias, lin_r has none; the mean over no neighbours is 0; an edge from i to itself is an
 * edge like others. A sampled neighbourhood needs no correction: its mean estimates the whole one's.
 *
 * Mean and own row lie side by side, so that both projections are one product.
 */
#include "common/nn/layer.h"

#include <math.h>

/* torch.nn.Linear: Kaiming uniform with a = sqrt(5), which comes to this for weight and bias. */
static float initial_bound(const struct layer_parameter *parameter, uint32_t input_dim,
                           uint32_t output_dim)
{
    (void)parameter;
    (void)output_dim;
    return (float)(1 / sqrt((double)input_dim));
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
                                .self_beside = true};
    return ERROR_NONE;
}

const struct layer_type sage_layer = {
    .name = "sage",
    .parameter_count = 3,
    .parameter = {{"lin_l.weight", false}, {"lin_l.bias", true}, {"lin_r.weight", false}},
    .initial_bound = initial_bound,
    .projects_first = projects_first,
    .weigh = weigh,
};
