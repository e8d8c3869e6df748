/* Forward and backward of a whole model, and one layer of it alone (model.h). */
#include "common/nn/layers/layer.h"
#include "common/nn/layers/layer_pass.h"
#include "common/nn/model.h"

struct model_trace {
    const float *value;
    int layer_count;
    struct layer_pass layer[LAYER_COUNT_MAX];
};
_Static_assert(sizeof(struct model_trace) <= ARENA_REAL_BYTES, "a trace is written by what counts");

static struct random_stream stream_of_layer(const struct random_stream *stream, int layer)
{
    struct random_stream own = *stream;
    own.purpose_word = (own.purpose_word & ~0x00ff0000U) | (uint32_t)layer << 16;
    return own;
}

static void set_dropout(struct layer_pass *pass, struct random_stream stream)
{
    activation_set_dropout(&pass->slot_dropout, pass->layer->dropout, stream);
    if (pass->layer->activates)
        activation_set_dropout(&pass->activation, pass->layer->dropout, stream);
}

/* The last layer's output is the caller's, in floats. The others' lie in the arena, as the next reads
 * them. */
static enum error_code place_output(struct layer_pass *pass, bool is_last, float *logits,
                                    struct arena *arena, struct error *err)
{
    pass->output = logits;
    if (is_last)
        return ERROR_NONE;
    pass->output_precision = pass->precision;
    return arena_new_bytes(arena, &pass->output,
                           pass->block.destination_count *
                               precision_stride(pass->precision, pass->output_dim),
                           precision_bytes(pass->precision), "activations", err);
}

enum error_code model_forward(const struct model *model, const float *value,
                              const struct model_input *input,
                              const struct model_workspace *workspace, float *logits,
                              struct model_trace **trace, struct error *err)
{
    struct arena *arena = workspace->arena;
    struct model_trace *made = NULL;
    struct input_rows rows = input->rows;
    if (trace)
        *trace = NULL;
    enum error_code rc = arena_new(arena, &made, 1, "the trace of a model", err);
    if (rc != ERROR_NONE)
        return rc;
    made->value = value;
    made->layer_count = model->config.layer_count;
    for (int layer = 0; rc == ERROR_NONE && layer < made->layer_count; layer++) {
        struct layer_pass *pass = &made->layer[layer];
        const bool is_last = layer == made->layer_count - 1;
        rc = layer_pass_init(pass, model, value, layer, &input->block[layer], &rows, arena, err);
        if (rc == ERROR_NONE && input->dropout)
            set_dropout(pass, stream_of_layer(input->dropout, layer));
        if (layer == 0) {
            pass->aggregated = input->aggregated;
            pass->aggregated_count = input->aggregated_count;
        }
        if (rc == ERROR_NONE)
            rc = place_output(pass, is_last, logits, arena, err);
        if (rc == ERROR_NONE)
            rc = layer_pass_forward(pass, trace != NULL, arena, workspace->pool, err);
        rows = (struct input_rows){.base = pass->output,
                                   .stride = precision_stride(pass->precision, pass->output_dim),
                                   .precision = pass->precision};
    }
    if (rc == ERROR_NONE && trace)
        *trace = made;
    return rc;
}

static struct layer_gradient gradient_of_layer(const struct model *model, int layer,
                                               float *gradient)
{
    const struct model_layer *own = &model->layer[layer];
    const struct parameter *parameter = &model->parameter[own->first_parameter];
    struct layer_gradient out = {0};
    int matrices = 0;
    for (int i = 0; i < own->parameter_count; i++) {
        out.parameter[i] = gradient + parameter[i].offset;
        if (parameter[i].dim_count == 1)
            out.bias = gradient + parameter[i].offset;
        else
            out.matrix[matrices++] = gradient + parameter[i].offset;
    }
    return out;
}

enum error_code model_backward(const struct model *model, const float *value,
                               struct model_trace *trace, const float *logits_gradient,
                               const struct model_workspace *workspace, float *gradient,
                               struct error *err)
{
    enum error_code rc = ERROR_NONE;
    must(value == trace->value);
    for (int layer = trace->layer_count - 1; rc == ERROR_NONE && layer >= 0; layer--) {
        const bool is_last = layer == trace->layer_count - 1;
        const struct layer_gradient out = gradient_of_layer(model, layer, gradient);
        rc = layer_pass_backward(&trace->layer[layer], is_last ? NULL : &trace->layer[layer + 1],
                                 logits_gradient, layer == 0, &out, workspace->arena,
                                 workspace->pool, err);
    }
    return rc;
}

enum error_code model_infer_layer(const struct model *model, const float *value, int layer,
                                  const struct message_block *block, const struct input_rows *input,
                                  const struct model_workspace *workspace, float *output,
                                  struct error *err)
{
    struct layer_pass pass;
    enum error_code rc =
        layer_pass_init(&pass, model, value, layer, block, input, workspace->arena, err);
    pass.output = output;
    if (rc == ERROR_NONE)
        rc = layer_pass_forward(&pass, false, workspace->arena, workspace->pool, err);
    return rc;
}
