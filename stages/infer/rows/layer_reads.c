#include "stages/infer/rows/layer_reads.h"

#include "common/nn/layers/neighbor_weights.h"
#include "common/nn/typed/typed_layer.h"

bool layer_reads_listed_rows(const struct model *model)
{
    return model_is_typed(model);
}

uint32_t layer_reads_columns(const struct model *model, int layer, uint32_t type)
{
    return layer > 0 ? model_layer_output_dim(model, layer - 1)
                     : model->config.types.input_dim[type];
}

bool layer_reads_zeros(const struct model *model, int layer)
{
    return layer == 0 && !layer_reads_listed_rows(model);
}

bool layer_reads_sums(const struct model *model, int layer)
{
    const struct typed_kind *typed = model->layer[layer].typed;
    if (!layer_reads_listed_rows(model))
        return model_sums_sources(model, layer);
    for (uint32_t t = 0; layer == 0 && t < model->config.types.schema.type_count; t++)
        if (model->config.types.projects[t])
            return false;
    return typed && typed->sums;
}

enum error_code layer_reads_weights(const struct model *model, int layer, uint32_t columns,
                                    const struct message_block *block, struct arena *arena,
                                    struct aggregation *out, struct error *err)
{
    struct model_layer of_relation = model->layer[layer];
    if (!layer_reads_listed_rows(model))
        return model_weigh_block(model, layer, block, arena, out, err);
    of_relation.input_dim = columns;
    return neighbor_weights(&of_relation, block, arena, out, err);
}
