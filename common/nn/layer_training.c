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
    const struct model_layer *own = &model->layer[layer];
    const int hop = own->type->uses_edges ? own->hop : own->hop - 1; /* that gives its rows */
    if (hop >= 0)
        return input->relations ? *input->relations[hop].destination_count
                                : input->block[hop].destination_count;
    if (model->hop_count == 0)
        return input->seed_count;
    return input->relations ? *input->relations[0].source_count : input->block[0].source_count;
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
    const bool is_last = layer == model->config.layer_count - 1;
    float *place[] = {is_last ? output[layer] : NULL};
    struct model_trace *made = NULL;
    must(model->config.types.schema.type_count == 1);
    enum error_code rc = model_trace_new(model, value, input, workspace, true, &made, err);
    for (int k = 0; rc == ERROR_NONE && k <= layer; k++)
        rc = model_trace_begin(made, k, err);
    for (int k = 0; rc == ERROR_NONE && k < layer; k++)
        made->step[k].row[0].pass.output = reads >> k & 1 ? output[k] : NULL;
    if (rc == ERROR_NONE)
        rc = model_trace_forward(made, layer, place, err);
    if (rc != ERROR_NONE)
        return rc;
    output[layer] = made->step[layer].row[0].pass.output;
    *trace = made;
    return ERROR_NONE;
}

/* A pass above a layer of which nothing is there but what it left.
 * NOLINTNEXTLINE(readability-non-const-parameter): it is written over. */
static enum error_code put_next(struct model_trace *trace, int layer, float *next,
                                struct error *err)
{
    struct layer_pass *pass = NULL;
    if (!next)
        return ERROR_NONE;
    const enum error_code rc = arena_new(trace->workspace->arena, &pass, 1, "the layer above", err);
    if (rc != ERROR_NONE)
        return rc;
    *pass = (struct layer_pass){.input_gradient = next};
    trace->step[layer].above[0] = pass;
    return ERROR_NONE;
}

enum error_code layer_training_backward(const struct model *model, struct model_trace *trace,
                                        int layer, struct output_gradient gradient[LAYER_COUNT_MAX],
                                        const struct model_workspace *workspace,
                                        float *parameter_gradient, struct error *err)
{
    must(layer < model->config.layer_count - 1 || gradient[layer].parts.count == 1);
    trace->workspace = workspace;
    for (int k = 0; k <= layer; k++)
        trace->step[k].parts[0] = gradient[k].parts;
    enum error_code rc = put_next(trace, layer, gradient[layer].next, err);
    if (rc == ERROR_NONE)
        rc = model_trace_backward(trace, layer, parameter_gradient, err);
    for (int k = 0; k < layer; k++)
        gradient[k].parts = trace->step[k].parts[0];
    if (rc == ERROR_NONE && layer > 0 && !model->layer[layer].reads_all)
        rc = model_trace_gradient(trace, layer - 1, 0, false, &gradient[layer - 1].next, err);
    return rc;
}
