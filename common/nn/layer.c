#include "common/nn/layer.h"

static const struct layer_type *const layer_table[LAYER_GCN + 1] = {
    [LAYER_SAGE] = &sage_layer,
    [LAYER_GCN] = &gcn_layer,
};

const struct layer_type *layer_type_of(enum layer_kind kind)
{
    must(kind <= LAYER_GCN);
    return layer_table[kind];
}

int layer_matrix_count(const struct layer_type *type)
{
    int count = 0;
    for (int i = 0; i < type->parameter_count; i++)
        count += !type->parameter[i].is_vector;
    return count;
}
