/* The table of parameters; model_pass.c computes with it. */
#include "common/nn/model.h"

#include "common/nn/layers/layer.h"

#include <inttypes.h>
#include <stdio.h>

uint32_t model_layer_input_dim(const struct model *model, int layer)
{
    return model->layer[layer].input_dim;
}

uint32_t model_layer_output_dim(const struct model *model, int layer)
{
    return model->layer[layer].output_dim;
}

static void add_layer(struct model *model, int number)
{
    const struct model_config *config = &model->config;
    const bool is_last = number == config->layer_count - 1;
    struct model_layer *layer = &model->layer[number];
    struct layer_parameter own[LAYER_PARAMETER_COUNT_MAX] = {0};
    *layer = (struct model_layer){.type = layer_type_of(config->layer),
                                  .input_dim = number == 0 ? config->input_dim : config->hidden_dim,
                                  .output_dim = is_last ? config->output_dim : config->hidden_dim,
                                  .activates = !is_last,
                                  .heads = config->heads ? config->heads : 1,
                                  .dropout = config->dropout,
                                  .first_parameter = model->parameter_count};
    layer->parameter_count = layer->type->parameters(layer, own);
    model->needs_degree |= layer->type->needs_degree;
    for (int i = 0; i < layer->parameter_count; i++) {
        struct parameter *parameter = &model->parameter[model->parameter_count++];
        (void)snprintf(parameter->name, sizeof parameter->name, "convs.%d.%s", number,
                       own[i].suffix);
        parameter->dim_count = own[i].dim_count;
        parameter->rows = own[i].rows;
        parameter->cols = own[i].cols;
        parameter->offset = model->value_count;
        model->value_count += (uint64_t)parameter->rows * parameter->cols;
    }
}

static enum error_code check_config(const struct model_config *config, struct error *err)
{
    /* So that no count of values, bytes or tiles of a layer comes near 2^63. */
    const uint32_t dim_max = 1U << 24;
    if (config->layer_count < 1 || config->layer_count > LAYER_COUNT_MAX)
        return error_set(err, ERROR_INVALID, "a model of %d layers; 1 to %d are possible",
                         config->layer_count, (int)LAYER_COUNT_MAX);
    const uint32_t dims[] = {config->input_dim, config->hidden_dim, config->output_dim};
    const char *const names[] = {"input", "hidden", "output"};
    for (int i = 0; i < 3; i++)
        if (dims[i] < 1 || dims[i] > dim_max)
            return error_set(err, ERROR_INVALID,
                             "the %s width of the model is %" PRIu32 "; 1 to %" PRIu32
                             " are possible",
                             names[i], dims[i], dim_max);
    const struct layer_type *type = layer_type_of(config->layer);
    if (type->has_heads && config->layer_count > 1 && config->heads > 1 &&
        config->hidden_dim % config->heads != 0)
        return error_set(err, ERROR_INVALID,
                         "the hidden width of the model is %" PRIu32 ", which its %" PRIu32
                         " heads do not divide",
                         config->hidden_dim, config->heads);
    if (type->forward && config->precision != PRECISION_FP32)
        return error_set(err, ERROR_INVALID, "layers of kind %s are computed in fp32 alone",
                         type->name);
    if (!(config->dropout >= 0 && config->dropout < 1))
        return error_set(err, ERROR_INVALID, "dropout is %g; at least 0 and below 1 is possible",
                         (double)config->dropout);
    return ERROR_NONE;
}

enum error_code model_init(struct model *out, const struct model_config *config, struct error *err)
{
    const enum error_code rc = check_config(config, err);
    *out = (struct model){0};
    if (rc != ERROR_NONE)
        return rc;
    out->config = *config;
    for (int layer = 0; layer < config->layer_count; layer++)
        add_layer(out, layer);
    return ERROR_NONE;
}

enum error_code model_table_text(const struct model *model, char *out, size_t size,
                                 struct error *err)
{
    size_t used = 0;
    for (int i = 0; i < model->parameter_count; i++) {
        const struct parameter *parameter = &model->parameter[i];
        const int wanted = snprintf(out + used, size - used, "%s %" PRIu32 " %" PRIu32 "\n",
                                    parameter->name, parameter->rows, parameter->cols);
        if (wanted < 0 || (size_t)wanted >= size - used)
            return error_set(err, ERROR_INVALID,
                             "the table of parameters does not fit in %zu bytes", size);
        used += (size_t)wanted;
    }
    return ERROR_NONE;
}

static void initialise_layer(const struct model *model, const struct model_layer *layer,
                             const struct random_stream *stream, float *value)
{
    struct layer_parameter own[LAYER_PARAMETER_COUNT_MAX] = {0};
    (void)layer->type->parameters(layer, own);
    for (int i = 0; i < layer->parameter_count; i++) {
        const struct parameter *parameter = &model->parameter[layer->first_parameter + i];
        const uint64_t end = parameter->offset + (uint64_t)parameter->rows * parameter->cols;
        for (uint64_t at = parameter->offset; at < end; at++) {
            uint32_t word[4];
            random_block(stream, at / 4, 0, word);
            value[at] = (2 * random_unit(word[at % 4]) - 1) * own[i].bound;
        }
    }
}

void model_initialise(const struct model *model, uint64_t seed, float *value)
{
    const struct random_stream stream = random_stream_of(seed, RANDOM_WEIGHT, 0, 0, 0);
    for (int layer = 0; layer < model->config.layer_count; layer++)
        initialise_layer(model, &model->layer[layer], &stream, value);
}
