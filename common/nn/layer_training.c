#include "common/nn/layer_training.h"

#include "common/nn/layers/layer.h"
#include "common/nn/model_trace.h"

uint32_t layer_training_reads(const struct model *model, int layer)
{
    const struct model_layer *own = &model->layer[layer];
    uint32_t reads = 0;
    if (own->reads_all)
        return (1U << layer) - 1;
    if (layer > 0)
        reads |= 1U << (layer - 1);
    if (own->second_input >= 0)
        reads |= 1U << own->second_input;
    return reads;
}

uint32_t layer_training_rows(const struct model *model, int layer, const struct model_input *input)
{
    return model_trace_block(model, layer, input).destination_count;
}

static void add_range(const struct model *model, int first, int count,
                      struct value_range range[LAYER_VALUE_RANGES_MAX], int *ranges)
{
    if (first < 0 || count == 0)
        return;
    const uint64_t offset = model->parameter[first].offset;
    const struct parameter *last = &model->parameter[first + count - 1];
    range[(*ranges)++] =
        (struct value_range){offset, last->offset + (uint64_t)last->rows * last->cols - offset};
}

int layer_training_values(const struct model *model, int layer,
                          struct value_range range[LAYER_VALUE_RANGES_MAX])
{
    enum { NORM_PARAMETERS = 2, BUFFERS = 3 };

    const struct model_layer *own = &model->layer[layer];
    int ranges = 0;
    add_range(model, own->first_parameter, own->parameter_count, range, &ranges);
    add_range(model, own->residual_parameter, 1, range, &ranges);
    add_range(model, own->norm_parameter, NORM_PARAMETERS, range, &ranges);
    add_range(model, own->buffer_parameter, BUFFERS, range, &ranges);
    if (own->config.inner_norm == NORM_BATCH)
        add_range(model, own->inner_buffer_parameter, BUFFERS, range, &ranges);
    return ranges;
}

enum error_code layer_training_forward(const struct model *model, const float *value, int layer,
                                       const struct model_input *input,
                                       void *output[LAYER_COUNT_MAX],
                                       const struct model_workspace *workspace,
                                       struct model_trace **trace, struct error *err)
{
    const uint32_t reads = layer_training_reads(model, layer);
    struct model_trace *made = NULL;
    must(!model_is_typed(model));
    enum error_code rc = model_trace_new(model, value, workspace->arena, &made, err);
    for (int k = 0; rc == ERROR_NONE && k < layer; k++)
        made->layer[k] = (struct layer_pass){.output = reads >> k & 1 ? output[k] : NULL};
    const struct way_forth forth = {
        .model = model, .input = input, .workspace = workspace, .trace = made, .keeps = true};
    if (rc == ERROR_NONE)
        rc = model_trace_forward(&forth, layer, output[layer], err);
    if (rc != ERROR_NONE)
        return rc;
    output[layer] = made->layer[layer].output;
    *trace = made;
    return ERROR_NONE;
}

/* A pass above layer `layer` of which nothing is there but what it left. */
static void put_next(const struct model *model, struct model_trace *trace, int layer,
                     const struct output_gradient *left)
{
    struct layer_pass *next = &trace->layer[layer + 1];
    if (layer + 1 == model->config.layer_count)
        return;
    *next = (struct layer_pass){.layer = &model->layer[layer + 1]};
    next->input_gradient = left->next;
}

enum error_code layer_training_backward(const struct model *model, struct model_trace *trace,
                                        int layer, struct output_gradient gradient[LAYER_COUNT_MAX],
                                        const struct model_workspace *workspace,
                                        float *parameter_gradient, struct error *err)
{
    struct way_back back = {.model = model, .trace = trace, .workspace = workspace};
    const bool is_last = layer == model->config.layer_count - 1;
    must(!is_last || gradient[layer].parts.count == 1);
    back.gradient = parameter_gradient;
    for (int k = 0; k <= layer; k++)
        back.parts[k] = gradient[k].parts;
    put_next(model, trace, layer, &gradient[layer]);
    enum error_code rc =
        model_trace_backward(&back, layer, is_last ? gradient[layer].parts.part[0].row : NULL, err);
    for (int k = 0; k < layer; k++)
        gradient[k].parts = back.parts[k];
    if (rc == ERROR_NONE && layer > 0 && !model->layer[layer].reads_all)
        rc = model_trace_input_gradient(&trace->layer[layer], NULL, workspace,
                                        &gradient[layer - 1].next, err);
    return rc;
}
