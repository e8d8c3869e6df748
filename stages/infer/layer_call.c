#include "stages/infer/layer_call.h"

#include "common/nn/layers/layer.h"
#include "common/nn/layers/neighbor_weights.h"
#include "common/nn/typed/typed_layer.h"

bool layer_call_lists_rows(const struct model *model)
{
    return model_is_typed(model);
}

uint32_t layer_call_columns(const struct model *model, int layer, uint32_t type)
{
    if (layer > 0)
        return model_layer_output_dim(model, layer - 1);
    return layer_call_lists_rows(model) ? model->config.types.input_dim[type]
                                        : model_layer_input_dim(model, 0);
}

bool layer_call_skips_zeros(const struct model *model, int layer)
{
    return layer == 0 && !layer_call_lists_rows(model);
}

bool layer_call_sums(const struct model *model, int layer)
{
    const struct typed_kind *typed = model->layer[layer].type->typed;
    if (!layer_call_lists_rows(model))
        return model_sums_sources(model, layer);
    for (uint32_t t = 0; layer == 0 && t < model->config.types.schema.type_count; t++)
        if (model->config.types.projects[t])
            return false;
    return typed && typed->sums;
}

enum error_code layer_call_weigh(const struct model *model, int layer, uint32_t columns,
                                 const struct message_block *block, struct arena *arena,
                                 struct aggregation *out, struct error *err)
{
    struct model_layer of_relation = model->layer[layer];
    if (!layer_call_lists_rows(model))
        return model_weigh_block(model, layer, block, arena, out, err);
    of_relation.input_dim = columns;
    return neighbor_weights(&of_relation, block, arena, out, err);
}

enum error_code layer_call(const struct model *model, const float *weights, int layer,
                           const struct typed_layer_input *input, uint32_t type,
                           const struct model_workspace *workspace, float *output,
                           struct error *err)
{
    if (layer_call_lists_rows(model))
        return typed_model_infer_layer(model, weights, layer, input, type, workspace, output, err);
    const struct message_block every_row = {.destination_count = input->count[0],
                                            .source_count = input->count[0]};
    const struct layer_input plain = {.block =
                                          input->block ? input->block->edges[0].block : every_row,
                                      .rows = input->rows[0],
                                      .second = input->start ? input->start[0] : NULL};
    return input->sum ? model_infer_sums(model, weights, layer, &plain, input->sum[0], workspace,
                                         output, err)
                      : model_infer_layer(model, weights, layer, &plain, workspace, output, err);
}
