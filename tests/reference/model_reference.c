#include "tests/reference/model_reference.h"

#include "common/base/memory.h"
#include "common/nn/layers/layer.h"

#include "tests/reference/attention_reference.h"
#include "tests/reference/tail_reference.h"

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
    /* [sources, in]: the input of the lowest layer of an unbroken run of this kind */
    const double *start;
};

static const double *tensor(const struct layer *layer, const char *suffix)
{
    const struct model_config *config = &layer->model->config;
    char name[PARAMETER_NAME_SIZE];
    if (config->jumping_knowledge != JUMP_NONE && layer->number == config->layer_count - 1)
        (void)snprintf(name, sizeof name, "lin.%s", suffix);
    else
        layer_parameter_name(layer->model->layer[layer->number].type, layer->number, suffix, name);
    int i = 0;
    while (i < layer->model->parameter_count && strcmp(layer->model->parameter[i].name, name) != 0)
        i++;
    must(i < layer->model->parameter_count); /* fails if the model lacks that tensor */
    return layer->value + layer->model->parameter[i].offset;
}

static double product(const double *weight_row, const double *x, uint32_t count)
{
    double sum = 0;
    for (uint32_t c = 0; c < count; c++)
        sum += weight_row[c] * x[c];
    return sum;
}

/* Returns the value of an edge, which is 1 without edge values. */
static double value_of(const struct message_block *block, uint32_t edge)
{
    return block->edge_value ? (double)block->edge_value[edge] : 1;
}

static const struct model_layer *own_of(const struct layer *layer)
{
    return &layer->model->layer[layer->number];
}

/* Adds W x to y [out]. */
static void add_product(const struct layer *layer, const char *weight, const double *x, double *y)
{
    for (uint32_t o = 0; o < layer->out; o++)
        y[o] += product(tensor(layer, weight) + (size_t)o * layer->in, x, layer->in);
}

static void add_bias(const struct layer *layer, const char *bias, double *y)
{
    for (uint32_t o = 0; o < layer->out; o++)
        y[o] += tensor(layer, bias)[o];
}

static const double *input_row(const struct layer *layer, uint32_t j)
{
    return layer->x + (size_t)j * layer->in;
}

/* Returns the factor that corrects a sum over the edges of i for the edges that were not
 * sampled. */
static double correction(const struct message_block *block, uint32_t i)
{
    const uint32_t count = block->row_start[i + 1] - block->row_start[i];
    double loops = 0;
    for (uint32_t e = block->row_start[i]; e < block->row_start[i + 1]; e++)
        loops += block->neighbor[e] == i;
    if (loops == count || count - loops >= block->degree[i])
        return 1;
    return (block->degree[i] + loops) / count;
}

/* Returns column c of the aggregated neighbours of i. */
static double neighbors_of(const struct layer *layer, uint32_t i, uint32_t c)
{
    const struct message_block *block = layer->block;
    const int64_t aggr = own_of(layer)->config.option.aggr;
    const uint32_t first = block->row_start[i], end = block->row_start[i + 1];
    double sum = 0, most = -HUGE_VAL;
    for (uint32_t e = first; e < end; e++) {
        const double value = value_of(block, e) * input_row(layer, block->neighbor[e])[c];
        sum += value;
        most = fmax(most, value);
    }
    if (first == end)
        return 0;
    if (aggr == LAYER_AGGR_MAX)
        return most;
    return aggr == LAYER_AGGR_ADD ? sum * correction(block, i) : sum / (end - first);
}

static void neighbor_row(const struct layer *layer, const char *of_neighbors, const char *of_own,
                         const char *bias, uint32_t i, double *y)
{
    double *row = memory_alloc(layer->in, sizeof *row);
    must(row);
    for (uint32_t c = 0; c < layer->in; c++)
        row[c] = neighbors_of(layer, i, c);
    add_product(layer, of_neighbors, row, y);
    add_product(layer, of_own, input_row(layer, i), y);
    add_bias(layer, bias, y);
    memory_free(row);
}

/* Returns GCN's d: the degree in the whole graph, with the node itself. */
static double normaliser(const struct message_block *block, uint32_t node)
{
    return block->edge_value ? (double)block->value_sum[node] : block->degree[node] + 1.0;
}

/* Computes y [in]: the rows of i and its neighbours, multiplied by GCN's weights. */
static void propagate(const struct layer *layer, uint32_t i, double *y)
{
    const struct message_block *block = layer->block;
    double proper = 0, loops = 0, loop_count = 0;
    for (uint32_t c = 0; c < layer->in; c++)
        y[c] = 0;
    for (uint32_t e = block->row_start[i]; e < block->row_start[i + 1]; e++) {
        const uint32_t j = block->neighbor[e];
        if (j == i) {
            loops += value_of(block, e);
            loop_count++;
            continue;
        }
        proper++;
        for (uint32_t c = 0; c < layer->in; c++)
            y[c] += value_of(block, e) * input_row(layer, j)[c] /
                    sqrt(normaliser(block, i) * normaliser(block, j));
    }
    const double own = loop_count > 0 && block->edge_value ? loops : 1;
    for (uint32_t c = 0; c < layer->in; c++) {
        if (proper > 0 && proper < block->degree[i])
            y[c] *= block->degree[i] / proper;
        y[c] += own * input_row(layer, i)[c] / normaliser(block, i);
    }
}

static void gcn_row(const struct layer *layer, const char *bias, uint32_t i, double *y)
{
    double *row = memory_alloc(layer->in, sizeof *row);
    must(row);
    propagate(layer, i, row);
    add_product(layer, "lin.weight", row, y);
    add_bias(layer, bias, y);
    memory_free(row);
}

/* Computes the sum of w (W_1 x_j + b_1 - W_2 x_i), edge by edge, and adds W_3 x_i + b_3. */
static void le_row(const struct layer *layer, uint32_t i, double *y)
{
    const struct message_block *block = layer->block;
    double *own = memory_alloc(layer->out, sizeof *own),
           *other = memory_alloc(layer->out, sizeof *other);
    must(own && other);
    for (uint32_t o = 0; o < layer->out; o++)
        own[o] = 0;
    add_product(layer, "lin2.weight", input_row(layer, i), own);
    for (uint32_t e = block->row_start[i]; e < block->row_start[i + 1]; e++) {
        for (uint32_t o = 0; o < layer->out; o++)
            other[o] = 0;
        add_product(layer, "lin1.weight", input_row(layer, block->neighbor[e]), other);
        add_bias(layer, "lin1.bias", other);
        for (uint32_t o = 0; o < layer->out; o++)
            y[o] += correction(block, i) * value_of(block, e) * (other[o] - own[o]);
    }
    add_product(layer, "lin3.weight", input_row(layer, i), y);
    add_bias(layer, "lin3.bias", y);
    memory_free(own);
    memory_free(other);
}

static void appnp_row(const struct layer *layer, uint32_t i, double *y)
{
    const double alpha = own_of(layer)->config.option.alpha;
    propagate(layer, i, y);
    for (uint32_t c = 0; c < layer->in; c++)
        y[c] = (1 - alpha) * y[c] + alpha * layer->start[(size_t)i * layer->in + c];
}

/* Computes y [out], which must be zero before. */
static void linear_row(const struct layer *layer, uint32_t i, double *y)
{
    const enum layer_kind kind = own_of(layer)->config.kind;
    if (kind == LAYER_SAGE)
        neighbor_row(layer, "lin_l.weight", "lin_r.weight", "lin_l.bias", i, y);
    if (kind == LAYER_GRAPH_CONV)
        neighbor_row(layer, "lin_rel.weight", "lin_root.weight", "lin_rel.bias", i, y);
    if (kind == LAYER_GCN)
        gcn_row(layer, "bias", i, y);
    if (kind == LAYER_SGC)
        gcn_row(layer, "lin.bias", i, y);
    if (kind == LAYER_PROPAGATE)
        propagate(layer, i, y);
    if (kind == LAYER_APPNP)
        appnp_row(layer, i, y);
    if (kind == LAYER_LE)
        le_row(layer, i, y);
    if (kind == LAYER_IDENTITY)
        memcpy(y, input_row(layer, i),
               layer->model->layer[layer->number].config.output_dim * sizeof *y);
    if (kind == LAYER_MLP) {
        add_product(layer, "weight", input_row(layer, i), y);
        add_bias(layer, "bias", y);
    }
}

/* Returns the factor of inverted dropout. The draw for (row, column) is 16 bits of a Philox
 * block of eight draws. */
static double kept(const struct layer *layer, const struct random_stream *dropout, uint32_t row,
                   uint32_t column)
{
    struct random_stream stream = *dropout;
    uint32_t word[4];
    stream.purpose_word |= (uint32_t)layer->number << 16;
    random_block(&stream, row, column / 8, word);
    const uint32_t draw = word[column % 8 / 2] >> (column % 2 ? 16 : 0) & 0xffffU;
    const double dropped = round((double)layer->model->layer[layer->number].config.dropout * 65536);
    return draw < dropped ? 0 : 65536 / (65536 - dropped);
}

/* Returns the dropout factor of each attention share; NULL means that all are 1. */
static double *kept_slots(const struct layer *layer, const struct random_stream *dropout)
{
    const struct model_layer *own = &layer->model->layer[layer->number];
    const size_t slots = message_block_edges(layer->block) + layer->block->destination_count;
    const double dropped = round((double)own->config.dropout * 65536);
    const size_t heads = (size_t)own->config.option.heads;
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
    const bool is_v2 = own->config.kind == LAYER_GATV2;
    double *kept = kept_slots(layer, dropout);
    const struct attention_reference reference = {
        .block = layer->block,
        .in = layer->in,
        .heads = (uint32_t)own->config.option.heads,
        .channels = own->joins_heads ? layer->out / (uint32_t)own->config.option.heads : layer->out,
        .joins = own->joins_heads,
        .x = layer->x,
        .source_weight = tensor(layer, is_v2 ? "lin_l.weight" : "lin.weight"),
        .source_bias = is_v2 ? tensor(layer, "lin_l.bias") : NULL,
        .destination_weight = is_v2 ? tensor(layer, "lin_r.weight") : NULL,
        .destination_bias = is_v2 ? tensor(layer, "lin_r.bias") : NULL,
        .att = tensor(layer, is_v2 ? "att" : "att_src"),
        .att_destination = is_v2 ? NULL : tensor(layer, "att_dst"),
        .att_edge = own->edge_dim && !is_v2 ? tensor(layer, "att_edge") : NULL,
        .edge_weight = own->edge_dim ? tensor(layer, "lin_edge.weight") : NULL,
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
    for (size_t at = 0; at < (size_t)rows * layer->out; at++)
        y[at] = 0;
    for (uint32_t i = 0; i < rows; i++)
        linear_row(layer, i, y + (size_t)i * layer->out);
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

/* Adds W_0 ((1 + eps) x_i + the sum of the neighbours) + b_0 to y [out], which must be zero
 * before. */
static void gin_hidden_row(const struct layer *layer, uint32_t i, double *y)
{
    const struct message_block *block = layer->block;
    double *row = memory_alloc(layer->in, sizeof *row);
    must(row);
    for (uint32_t c = 0; c < layer->in; c++) {
        double sum = 0;
        for (uint32_t e = block->row_start[i]; e < block->row_start[i + 1]; e++)
            sum += input_row(layer, block->neighbor[e])[c];
        row[c] = (1 + *tensor(layer, "eps")) * input_row(layer, i)[c] + correction(block, i) * sum;
    }
    add_product(layer, "nn.lins.0.weight", row, y);
    add_bias(layer, "nn.lins.0.bias", y);
    memory_free(row);
}

/* Returns the norm between the two matrices. PyG calls its tensors nn.norms.0. */
static struct norm_reference gin_norm(const struct layer *layer)
{
    struct norm_reference norm = {.kind = own_of(layer)->config.inner_norm};
    if (norm.kind == NORM_LAYER) {
        norm.weight = tensor(layer, "nn.norms.0.weight");
        norm.bias = tensor(layer, "nn.norms.0.bias");
    } else if (norm.kind == NORM_BATCH) {
        norm.weight = tensor(layer, "nn.norms.0.module.weight");
        norm.bias = tensor(layer, "nn.norms.0.module.bias");
        norm.mean = tensor(layer, "nn.norms.0.module.running_mean");
        norm.variance = tensor(layer, "nn.norms.0.module.running_var");
    }
    return norm;
}

static double *gin_output(const struct layer *layer, bool by_batch)
{
    const uint32_t rows = layer->block->destination_count, width = layer->out;
    const struct norm_reference norm = gin_norm(layer);
    double *hidden = memory_alloc((size_t)rows * width, sizeof *hidden);
    double *y = memory_alloc((size_t)rows * width, sizeof *y);
    must(hidden && y);
    for (size_t at = 0; at < (size_t)rows * width; at++)
        hidden[at] = y[at] = 0;
    for (uint32_t i = 0; i < rows; i++)
        gin_hidden_row(layer, i, hidden + (size_t)i * width);
    norm_reference_apply(&norm, rows, width, by_batch, hidden);
    for (uint32_t i = 0; i < rows; i++) {
        for (uint32_t o = 0; o < width; o++)
            for (uint32_t h = 0; h < width; h++)
                y[(size_t)i * width + o] +=
                    tensor(layer, "nn.lins.1.weight")[(size_t)o * width + h] *
                    activated(own_of(layer)->config.inner_activation,
                              hidden[(size_t)i * width + h]);
        add_bias(layer, "nn.lins.1.bias", y + (size_t)i * width);
    }
    memory_free(hidden);
    return y;
}

/* Returns the output of the layer itself, without its tail. */
static double *own_output(const struct layer *layer, const struct random_stream *dropout,
                          bool by_batch)
{
    if (own_of(layer)->type->has_heads)
        return attention_output(layer, dropout);
    return own_of(layer)->config.kind == LAYER_GIN ? gin_output(layer, by_batch)
                                                   : linear_output(layer);
}

static double *layer_output(const struct layer *layer, const struct random_stream *dropout,
                            bool by_batch)
{
    const bool is_last = layer->number == layer->model->config.layer_count - 1;
    const uint32_t rows = layer->block->destination_count;
    const struct model_layer *own = &layer->model->layer[layer->number];
    double *y = own_output(layer, dropout, by_batch);
    tail_reference_apply(layer->model, layer->number, layer->value, layer->x, rows, by_batch, y);
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t o = 0; o < layer->out; o++) {
            double *element = &y[(size_t)i * layer->out + o];
            *element = activated(own->config.activation, *element);
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

/* Joins the outputs of all layers below the last: side by side, or their maximum. */
static double *join(const struct model *model, double *const *output, uint32_t rows)
{
    const int count = model->config.layer_count - 1;
    const uint32_t width = model->layer[count].input_dim;
    double *joined = memory_alloc((size_t)rows * width, sizeof *joined);
    must(joined && output[0]);
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t c = 0, l = 0, at = 0; c < width; c++, at++) {
            double *out = &joined[(size_t)i * width + c];
            if (model->config.jumping_knowledge == JUMP_CAT) {
                if (at == model->layer[l].config.output_dim)
                    l++, at = 0;
                *out = output[l][(size_t)i * model->layer[l].config.output_dim + at];
                continue;
            }
            *out = output[0][(size_t)i * width + c];
            for (int k = 1; k < count; k++) {
                must(output[k]);
                *out = fmax(*out, output[k][(size_t)i * width + c]);
            }
        }
    return joined;
}

double *model_reference_logits(const struct model *model, const double *value,
                               const struct message_block *block, const struct input_rows *input,
                               const struct random_stream *dropout, bool by_batch)
{
    const uint32_t dim = model->config.input_dim;
    double *x = memory_alloc((size_t)block[0].source_count * dim, sizeof *x);
    must(x);
    for (uint32_t i = 0; i < block[0].source_count; i++)
        for (uint32_t c = 0; c < dim; c++)
            x[(size_t)i * dim + c] =
                element(input, (input->row_index ? input->row_index[i] : i) * input->stride + c);
    /* output[0] holds the features, output[l + 1] the output of layer l. */
    double *output[LAYER_COUNT_MAX + 1] = {x}, *joined = NULL;
    uint32_t rows = block[0].source_count;
    for (int number = 0, start = 0; number < model->config.layer_count; number++) {
        const struct model_layer *own = &model->layer[number];
        const struct message_block all = {.destination_count = rows, .source_count = rows};
        if (own->reads_all)
            joined = join(model, output + 1, rows);
        if (number > 0 && model->layer[number - 1].config.kind != own->config.kind)
            start = number;
        const struct layer layer = {.model = model,
                                    .value = value,
                                    .block = own->type->uses_edges ? &block[own->hop] : &all,
                                    .number = number,
                                    .in = model_layer_input_dim(model, number),
                                    .out = model_layer_output_dim(model, number),
                                    .x = joined ? joined : output[number],
                                    .start = output[start]};
        output[number + 1] = layer_output(&layer, dropout, by_batch);
        rows = layer.block->destination_count;
    }
    for (int number = 0; number < model->config.layer_count; number++)
        memory_free(output[number]);
    memory_free(joined);
    return output[model->config.layer_count];
}
