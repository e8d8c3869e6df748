#include "tests/reference/model_reference.h"

#include "common/base/memory.h"
#include "common/nn/layers/layer.h"

#include "tests/reference/attention_reference.h"

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

/* What an edge counts. */
static double value_of(const struct message_block *block, uint32_t edge)
{
    return block->edge_value ? (double)block->edge_value[edge] : 1;
}

static double sage_element(const struct layer *layer, uint32_t i, uint32_t o)
{
    const double *left = tensor(layer, "lin_l.weight") + (size_t)o * layer->in;
    const double *right = tensor(layer, "lin_r.weight") + (size_t)o * layer->in;
    const uint32_t first = layer->block->row_start[i], end = layer->block->row_start[i + 1];
    double mean = 0;
    for (uint32_t e = first; e < end; e++)
        mean += value_of(layer->block, e) *
                product(left, layer->x + (size_t)layer->block->neighbor[e] * layer->in, layer->in) /
                (end - first);
    return mean + tensor(layer, "lin_l.bias")[o] +
           product(right, layer->x + (size_t)i * layer->in, layer->in);
}

/* GCN's d: of the edges in the whole graph, and of the node itself. */
static double normaliser(const struct message_block *block, uint32_t node)
{
    return block->edge_value ? (double)block->value_sum[node] : block->degree[node] + 1.0;
}

static double gcn_element(const struct layer *layer, uint32_t i, uint32_t o)
{
    const double *weight = tensor(layer, "lin.weight") + (size_t)o * layer->in;
    const uint32_t *degree = layer->block->degree;
    double sum = 0, proper = 0, own = 1;
    for (uint32_t e = layer->block->row_start[i]; e < layer->block->row_start[i + 1]; e++) {
        const uint32_t j = layer->block->neighbor[e];
        if (j == i) {
            own = value_of(layer->block, e);
            continue;
        }
        proper++;
        sum += value_of(layer->block, e) *
               product(weight, layer->x + (size_t)j * layer->in, layer->in) /
               sqrt(normaliser(layer->block, i) * normaliser(layer->block, j));
    }
    if (proper > 0 && proper < degree[i])
        sum *= degree[i] / proper;
    return sum + tensor(layer, "bias")[o] +
           own * product(weight, layer->x + (size_t)i * layer->in, layer->in) /
               normaliser(layer->block, i);
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
    const double dropped = round((double)layer->model->layer[layer->number].dropout * 65536);
    return draw < dropped ? 0 : 65536 / (65536 - dropped);
}

/* What attention's dropout makes of each share; NULL: 1. */
static double *kept_slots(const struct layer *layer, const struct random_stream *dropout)
{
    const struct model_layer *own = &layer->model->layer[layer->number];
    const size_t slots = message_block_edges(layer->block) + layer->block->destination_count;
    const double dropped = round((double)own->dropout * 65536);
    const size_t heads = (size_t)own->option.heads;
    if (!dropout)
        return NULL;
    struct random_stream stream = *dropout;
    stream.purpose_word |= (uint32_t)layer->number << 16;
    double *kept = memory_alloc(slots * heads, sizeof *kept);
    must(kept);
    for (size_t at = 0; at < slots * heads; at++) {
        const uint32_t head = (uint32_t)(at % heads);
        uint32_t word[4];
        random_block(&stream, 1ULL << 39 | at / heads, head / 8, word);
        const uint32_t draw = word[head % 8 / 2] >> (head % 2 ? 16 : 0) & 0xffffU;
        kept[at] = draw < dropped ? 0 : 65536 / (65536 - dropped);
    }
    return kept;
}

static double *attention_output(const struct layer *layer, const struct random_stream *dropout)
{
    const struct model_layer *own = &layer->model->layer[layer->number];
    const bool is_v2 = own->kind == LAYER_GATV2;
    double *kept = kept_slots(layer, dropout);
    const struct attention_reference reference = {
        .block = layer->block,
        .in = layer->in,
        .heads = (uint32_t)own->option.heads,
        .channels = own->joins_heads ? layer->out / (uint32_t)own->option.heads : layer->out,
        .joins = own->joins_heads,
        .x = layer->x,
        .source_weight = tensor(layer, is_v2 ? "lin_l.weight" : "lin.weight"),
        .source_bias = is_v2 ? tensor(layer, "lin_l.bias") : NULL,
        .destination_weight = is_v2 ? tensor(layer, "lin_r.weight") : NULL,
        .destination_bias = is_v2 ? tensor(layer, "lin_r.bias") : NULL,
        .att = tensor(layer, is_v2 ? "att" : "att_src"),
        .att_destination = is_v2 ? NULL : tensor(layer, "att_dst"),
        .bias = tensor(layer, "bias"),
        .kept = kept};
    double *y = attention_reference_output(&reference);
    memory_free(kept);
    return y;
}

static double *linear_output(const struct layer *layer)
{
    const uint32_t rows = layer->block->destination_count;
    double *y = memory_alloc((size_t)rows * layer->out, sizeof *y);
    must(y);
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t o = 0; o < layer->out; o++)
            y[(size_t)i * layer->out + o] = layer->model->layer[layer->number].kind == LAYER_SAGE
                                                ? sage_element(layer, i, o)
                                                : gcn_element(layer, i, o);
    return y;
}

static double activated(enum activation_kind kind, double x)
{
    if (x > 0 || kind == ACTIVATION_NONE)
        return x;
    if (kind == ACTIVATION_RELU)
        return 0;
    return kind == ACTIVATION_ELU ? expm1(x) : 0.01 * x;
}

static double *layer_output(const struct layer *layer, const struct random_stream *dropout)
{
    const bool is_last = layer->number == layer->model->config.layer_count - 1;
    const uint32_t rows = layer->block->destination_count;
    const struct model_layer *own = &layer->model->layer[layer->number];
    double *y = own->type->has_heads ? attention_output(layer, dropout) : linear_output(layer);
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t o = 0; o < layer->out; o++) {
            double *element = &y[(size_t)i * layer->out + o];
            *element = activated(own->activation, *element);
            if (dropout && !is_last)
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
