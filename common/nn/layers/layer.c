#include "common/nn/layers/layer.h"

#include <math.h>

static const struct layer_type *const layer_table[LAYER_KIND_COUNT] = {
    [LAYER_SAGE] = &sage_layer,
    [LAYER_GCN] = &gcn_layer,
    [LAYER_GAT] = &gat_layer,
    [LAYER_GATV2] = &gatv2_layer,
};

const struct layer_type *layer_type_of(enum layer_kind kind)
{
    must(kind < LAYER_KIND_COUNT);
    return layer_table[kind];
}

float layer_linear_bound(uint32_t input_dim)
{
    return (float)(1 / sqrt((double)input_dim));
}

float layer_glorot_bound(uint32_t input_dim, uint32_t output_dim)
{
    return (float)sqrt(6 / ((double)input_dim + (double)output_dim));
}
