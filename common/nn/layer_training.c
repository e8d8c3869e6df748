#include "common/nn/layer_training.h"

#include "common/math/vector.h"
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

uint32_t layer_training_rows(const struct model *model, int layer, const struct model_input *input,
                             uint32_t type)
{
    const struct model_layer *own = &model->layer[layer];
    /* hop that gives the layer's rows */
    const int hop = own->type->uses_edges ? own->hop : own->hop - 1;
    if (hop >= 0)
        return input->relations ? input->relations[hop].destination_count[type]
                                : input->block[hop].destination_count;
    if (model->hop_count == 0)
        return input->seed_count;
    return input->relations ? input->relations[0].source_count[type] : input->block[0].source_count;
}

/* --- values --- */

/* Returns the first trained parameter of layer `layer`. The first layer also has the
 * projections. */
static int first_trained(const struct model *model, int layer)
{
    if (layer == model->config.layer_count)
        return model->head_parameter;
    return layer > 0 ? model->layer[layer].first_parameter : 0;
}

/* Returns the first parameter of the running statistics of a layer, or where they would begin. */
static int first_buffer(const struct model *model, int layer)
{
    if (layer == model->config.layer_count)
        return model->parameter_count;
    const struct model_layer *own = &model->layer[layer];
    return own->config.norm == NORM_BATCH ? own->buffer_parameter : own->inner_buffer_parameter;
}

static int add_range(const struct model *model, int first, int end, struct value_range *range)
{
    if (first == end)
        return 0;
    const struct parameter *last = &model->parameter[end - 1];
    const uint64_t offset = model->parameter[first].offset;
    *range =
        (struct value_range){offset, last->offset + (uint64_t)last->rows * last->cols - offset};
    return 1;
}

int layer_training_values(const struct model *model, int layer,
                          struct value_range range[LAYER_VALUE_RANGES_MAX])
{
    const int trained =
        add_range(model, first_trained(model, layer), first_trained(model, layer + 1), range);
    return trained + add_range(model, first_buffer(model, layer), first_buffer(model, layer + 1),
                               range + trained);
}

/* --- forward --- */

/* Copies the outputs of the layers below that the layer reads into the trace. */
static void take_outputs(struct model_trace *trace, int layer, const struct layer_output *output)
{
    const uint32_t reads = layer_training_reads(trace->model, layer);
    for (int k = 0; k < layer; k++)
        for (uint32_t t = 0; t < model_type_count(trace->model); t++)
            trace->step[k].row[t].pass.output = reads >> k & 1 ? output[k].row[t] : NULL;
}

enum error_code layer_training_forward(const struct model *model, const float *value, int layer,
                                       const struct model_input *input,
                                       struct layer_output output[LAYER_COUNT_MAX],
                                       const struct model_workspace *workspace,
                                       struct model_trace **trace, struct error *err)
{
    const uint32_t target = model->config.types.target_type;
    float *place[RELATION_TYPE_COUNT_MAX] = {NULL};
    struct model_trace *made = NULL;
    must(!model->config.types.gives_all);
    enum error_code rc = model_trace_new(model, value, input, workspace, true, &made, err);
    for (int k = 0; rc == ERROR_NONE && k <= layer; k++)
        rc = model_trace_begin(made, k, err);
    if (rc != ERROR_NONE)
        return rc;
    take_outputs(made, layer, output);
    if (layer == model->config.layer_count - 1)
        place[target] = output[layer].row[target];
    rc = model_trace_forward(made, layer, place, err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < model_type_count(model); t++)
        output[layer].row[t] = made->step[layer].row[t].pass.output;
    *trace = rc == ERROR_NONE ? made : NULL;
    return rc;
}

/* --- backward --- */

/* Backward writes over `next`. NOLINTBEGIN(readability-non-const-parameter) */

/* Puts a pass above the layer in which only the gradient that it left is set. */
enum error_code layer_training_give_next(struct model_trace *trace, int layer, uint32_t type,
                                         float *next, struct error *err)
{
    struct layer_pass *pass = NULL;
    const enum error_code rc = arena_new(trace->workspace->arena, &pass, 1, "the layer above", err);
    if (rc != ERROR_NONE)
        return rc;
    *pass = (struct layer_pass){.input_gradient = next};
    trace->step[layer].above[type] = pass;
    return ERROR_NONE;
}

/* NOLINTEND(readability-non-const-parameter) */

bool layer_training_give_part(struct model_trace *trace, int layer, uint32_t type,
                              const struct gradient_part *part)
{
    struct gradient_parts *parts = &trace->step[layer].parts[type];
    if (parts->count == LAYER_COUNT_MAX)
        return false;
    parts->part[parts->count++] = *part;
    return true;
}

/* Clears the layer's values, since a relation without rows writes nothing. */
static void clear_values(const struct model *model, int layer, float *gradient)
{
    struct value_range range[LAYER_VALUE_RANGES_MAX];
    for (int i = layer_training_values(model, layer, range) - 1; i >= 0; i--)
        vector_zero(gradient + range[i].first, range[i].count);
}

enum error_code layer_training_backward(struct model_trace *trace, int layer,
                                        float *parameter_gradient, struct error *err)
{
    if (!trace->workspace->arena->counts)
        clear_values(trace->model, layer, parameter_gradient);
    return model_trace_backward(trace, layer, parameter_gradient, err);
}

enum error_code layer_training_next(const struct model_trace *trace, int layer, uint32_t type,
                                    float **next, struct error *err)
{
    *next = NULL;
    if (layer == 0 || trace->model->layer[layer].reads_all)
        return ERROR_NONE;
    return model_trace_gradient(trace, layer - 1, type, false, next, err);
}

const struct gradient_parts *layer_training_parts(const struct model_trace *trace, int lower,
                                                  uint32_t type)
{
    return &trace->step[lower].parts[type];
}
