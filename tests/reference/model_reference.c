#include "tests/reference/model_reference.h"

#include "common/base/memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct layer {
    const struct model *model;
    const double *value;
    const struct message_block *block;
    int number;
    uint32_t in, out;
    const double *x; /* [sources, in] */
};

static const double *tensor(const struct layer *layer, const char *suffix)
{
    char name[PARAMETER_NAME_SIZE];
    (void)snprintf(name, sizeof name, "convs.%d.%s", layer->number, suffix);
    int i = 0;
    while (i < layer->model->parameter_count && strcmp(layer->model->parameter[i].name, name) != 0)
        i++;
    must(i < layer->model->parameter_count); /* a model without that tensor */
    return layer->value + layer->model->parameter[i].offset;
}

static double product(const double *weight_row, const double *x, uint32_t count)
{
    double sum = 0;
    for (uint32_t c = 0; c < count; c++)
        sum += weight_row[c] * x[c];
    return sum;
}

static double sage_element(const struct layer *layer, uint32_t i, uint32_t o)
{
    const double *left = tensor(layer, "lin_l.weight") + (size_t)o * layer->in;
    const double *right = tensor(layer, "lin_r.weight") + (size_t)o * layer->in;
    const uint32_t first = layer->block->row_start[i], end = layer->block->row_start[i + 1];
    double mean = 0;
    for (uint32_t e = first; e < end; e++)
        mean += product(left, layer->x + (size_t)layer->block->neighbor[e] * layer->in, layer->in) /
                (end - first);
    return mean + tensor(layer, "lin_l.bias")[o] +
           product(right, layer->x + (size_t)i * layer->in, layer->in);
}

static double gcn_element(const struct layer *layer, uint32_t i, uint32_t o)
{
    const double *weight = tensor(layer, "lin.weight") + (size_t)o * layer->in;
    const uint32_t *degree = layer->block->degree;
    double sum = 0, proper = 0;
    for (uint32_t e = layer->block->row_start[i]; e < layer->block->row_start[i + 1]; e++) {
        const uint32_t j = layer->block->neighbor[e];
        if (j == i)
            continue;
        proper++;
        sum += product(weight, layer->x + (size_t)j * layer->in, layer->in) /
               sqrt((degree[i] + 1.0) * (degree[j] + 1.0));
    }
    if (proper > 0 && proper < degree[i])
        sum *= degree[i] / proper;
    return sum + tensor(layer, "bias")[o] +
           product(weight, layer->x + (size_t)i * layer->in, layer->in) / (degree[i] + 1.0);
}

/* The factor of inverted dropout: draw (row, column) is 16 bits of a Philox block of eight. */
static double kept(const struct layer *layer, const struct random_stream *dropout, uint32_t row,
                   uint32_t column)
{
    struct random_stream stream = *dropout;
    uint32_t word[4];
    stream.purpose_word |= (uint32_t)layer->number << 16;
    random_block(&stream, row, column / 8, word);
    const uint32_t draw = word[column % 8 / 2] >> (column % 2 ? 16 : 0) & 0xffffU;
    const double dropped = round((double)layer->model->config.dropout * 65536);
    return draw < dropped ? 0 : 65536 / (65536 - dropped);
}

static double *layer_output(const struct layer *layer, const struct random_stream *dropout)
{
    const bool is_last = layer->number == layer->model->config.layer_count - 1;
    const uint32_t rows = layer->block->destination_count;
    double *y = memory_alloc((size_t)rows * layer->out, sizeof *y);
    must(y);
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t o = 0; o < layer->out; o++) {
            double *element = &y[(size_t)i * layer->out + o];
            *element = layer->model->config.layer == LAYER_SAGE ? sage_element(layer, i, o)
                                                                : gcn_element(layer, i, o);
            if (!is_last && *element < 0)
                *element = 0;
            if (!is_last && dropout)
                *element *= kept(layer, dropout, i, o);
        }
    return y;
}

static double element(const struct input_rows *input, size_t at)
{
    if (input->precision == PRECISION_BF16)
        return (double)bf16_to_float(((const bf16 *)input->base)[at]);
    return (double)((const float *)input->base)[at];
}

double *model_reference_logits(const struct model *model, const double *value,
                               const struct message_block *block, const struct input_rows *input,
                               const struct random_stream *dropout)
{
    const uint32_t dim = model->config.input_dim;
    double *x = memory_alloc((size_t)block[0].source_count * dim, sizeof *x);
    must(x);
    for (uint32_t i = 0; i < block[0].source_count; i++)
        for (uint32_t c = 0; c < dim; c++)
            x[(size_t)i * dim + c] =
                element(input, (input->row_index ? input->row_index[i] : i) * input->stride + c);
    for (int number = 0; number < model->config.layer_count; number++) {
        const struct layer layer = {.model = model,
                                    .value = value,
                                    .block = &block[number],
                                    .number = number,
                                    .in = model_layer_input_dim(model, number),
                                    .out = model_layer_output_dim(model, number),
                                    .x = x};
        double *y = layer_output(&layer, dropout);
        memory_free(x);
        x = y;
    }
    return x;
}
