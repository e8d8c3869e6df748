/* The table of parameters; model_pass.c computes with it. */
#include "common/nn/model.h"

#include "common/nn/layers/layer.h"
#include "common/nn/layers/layer_row.h"
#include "common/nn/typed/typed_model.h"

#include <inttypes.h>
#include <stdio.h>

uint32_t model_layer_input_dim(const struct model *model, int layer)
{
    return model->layer[layer].input_dim;
}

uint32_t model_layer_output_dim(const struct model *model, int layer)
{
    return model->layer[layer].config.output_dim;
}

#define ROW(constant, name) #name,
const char *const jumping_knowledge_names[JUMPING_KNOWLEDGE_COUNT + 1] = {
    JUMPING_KNOWLEDGE_LIST(ROW) NULL};
#undef ROW

/* --- outlines --- */

enum error_code model_config_of(struct model_config *out, const struct model_outline *outline,
                                struct error *err)
{
    const struct layer_type *type = layer_type_of(outline->layer.kind);
    const bool jumps = outline->jumping_knowledge != JUMP_NONE;
    *out = (struct model_config){.input_dim = outline->input_dim,
                                 .types = outline->types,
                                 .edge_dim = outline->edge_dim,
                                 .precision = outline->precision};
    if (type->build && jumps)
        return error_set(err, ERROR_INVALID,
                         "jumping_knowledge is %s, which models of kind %s do not have: list the "
                         "layers",
                         jumping_knowledge_names[outline->jumping_knowledge],
                         layer_names[outline->layer.kind]);
    if (type->build) {
        out->layer_count = type->build(outline, out->layer);
    } else {
        out->layer_count = outline->hop_count <= LAYER_COUNT_MAX ? outline->hop_count : -1;
        for (int i = 0; i < out->layer_count; i++)
            out->layer[i] =
                layer_of_outline(outline, outline->layer.kind, !jumps && i == out->layer_count - 1);
    }
    if (out->layer_count < 0)
        return error_set(
            err, ERROR_INVALID, "a model of kind %s with %d fan-outs has more than %d layers",
            layer_names[outline->layer.kind], outline->hop_count, (int)LAYER_COUNT_MAX);
    return jumps ? model_config_jump(out, outline->jumping_knowledge, outline->output_dim, err)
                 : ERROR_NONE;
}

enum error_code model_config_jump(struct model_config *config,
                                  enum jumping_knowledge jumping_knowledge, uint32_t output_dim,
                                  struct error *err)
{
    if (config->layer_count == LAYER_COUNT_MAX)
        return error_set(err, ERROR_INVALID,
                         "a model of %d layers has no room for the one of jumping_knowledge; at "
                         "most %d are possible",
                         config->layer_count, LAYER_COUNT_MAX - 1);
    config->jumping_knowledge = jumping_knowledge;
    config->layer[config->layer_count++] = (struct layer_config){
        .kind = LAYER_MLP, .output_dim = output_dim, .activation = ACTIVATION_NONE};
    return ERROR_NONE;
}

enum error_code model_init_outline(struct model *out, const struct model_outline *outline,
                                   struct error *err)
{
    struct model_config config;
    const enum error_code rc = model_config_of(&config, outline, err);
    return rc == ERROR_NONE ? model_init(out, &config, err) : rc;
}

/* --- layers --- */

/* Its number in the table. */
static int add_parameter(struct model *model, const char *name, const struct layer_parameter *own)
{
    struct parameter *parameter = &model->parameter[model->parameter_count];
    (void)snprintf(parameter->name, sizeof parameter->name, "%s", name);
    parameter->dim_count = own->dim_count;
    parameter->dim[0] = own->dim_count == 3 ? 1 : own->rows;
    parameter->dim[1] = own->dim_count == 3 ? own->rows : own->cols;
    parameter->dim[2] = own->cols;
    parameter->rows = own->rows;
    parameter->cols = own->cols;
    parameter->bound = own->bound;
    parameter->start = own->start;
    parameter->offset = model->value_count;
    model->value_count += (uint64_t)parameter->rows * parameter->cols;
    return model->parameter_count++;
}

static void add_own_parameters(struct model *model, struct model_layer *layer, int number)
{
    struct layer_parameter own[LAYER_PARAMETER_COUNT_MAX] = {0};
    char name[PARAMETER_NAME_SIZE];
    layer->first_parameter = model->parameter_count;
    layer->parameter_count = layer->type->parameters(layer, own);
    for (int i = 0; i < layer->parameter_count; i++) {
        if (number == model->config.layer_count - 1 && model->config.jumping_knowledge)
            (void)snprintf(name, sizeof name, "lin.%s", own[i].suffix);
        else
            layer_parameter_name(layer->type, number, own[i].suffix, name);
        (void)add_parameter(model, name, &own[i]);
    }
}

/* A tensor of the norm behind layer `number`, by its name in PyG: that of a batch norm is inside a
 * module of its own. */
static int add_vector(struct model *model, const struct model_layer *layer, int number,
                      const char *suffix, float start)
{
    char name[PARAMETER_NAME_SIZE];
    const struct layer_parameter own = {
        .dim_count = 1, .rows = layer->config.output_dim, .cols = 1, .start = start};
    (void)snprintf(name, sizeof name, "norms.%d.%s%s", number,
                   layer->config.norm == NORM_BATCH ? "module." : "", suffix);
    return add_parameter(model, name, &own);
}

static void add_tail_parameters(struct model *model, struct model_layer *layer, int number)
{
    char name[PARAMETER_NAME_SIZE];
    layer->residual_parameter = layer->norm_parameter = layer->buffer_parameter = -1;
    if (layer->config.residual && layer->input_dim != layer->config.output_dim) {
        const struct layer_parameter matrix = {.dim_count = 2,
                                               .rows = layer->config.output_dim,
                                               .cols = layer->input_dim,
                                               .bound = layer_linear_bound(layer->input_dim)};
        (void)snprintf(name, sizeof name, "residuals.%d.weight", number);
        layer->residual_parameter = add_parameter(model, name, &matrix);
    }
    if (layer->config.norm == NORM_NONE)
        return;
    layer->norm_parameter = add_vector(model, layer, number, "weight", 1);
    (void)add_vector(model, layer, number, "bias", 0);
}

/* The running statistics of a batch norm whose names begin with `module`. Returns the first one's
 * number. */
static int add_statistics(struct model *model, uint32_t dim, const char *module)
{
    static const char *const names[] = {"running_mean", "running_var", "num_batches_tracked"};
    char name[PARAMETER_NAME_SIZE];
    const int first = model->parameter_count;
    for (int i = 0; i < 3; i++) {
        const struct layer_parameter own = {
            .dim_count = 1, .rows = i < 2 ? dim : 1, .cols = 1, .start = i == 1 ? 1 : 0};
        (void)snprintf(name, sizeof name, "%s.%s", module, names[i]);
        model->parameter[add_parameter(model, name, &own)].is_count = i == 2;
    }
    return first;
}

/* Behind all that is trained. */
static void add_buffers(struct model *model, struct model_layer *layer, int number)
{
    char module[PARAMETER_NAME_SIZE - sizeof ".num_batches_tracked"];
    if (layer->config.norm == NORM_BATCH) {
        (void)snprintf(module, sizeof module, "norms.%d.module", number);
        layer->buffer_parameter = add_statistics(model, layer->config.output_dim, module);
    }
    if (layer->config.inner_norm == NORM_BATCH) {
        (void)snprintf(module, sizeof module, "convs.%d.nn.norms.0.module", number);
        layer->inner_buffer_parameter = add_statistics(model, layer->config.output_dim, module);
    }
}

int model_layer_start(const struct model_config *config, int number)
{
    int first = number;
    while (first > 0 && config->layer[first - 1].kind == config->layer[number].kind)
        first--;
    return first - 1;
}

uint32_t model_layer_reads(const struct model_config *config, int number)
{
    uint32_t sum = 0;
    if (number == 0)
        return config->input_dim;
    if (config->jumping_knowledge != JUMP_CAT || number < config->layer_count - 1)
        return config->layer[number - 1].output_dim;
    for (int i = 0; i < number; i++)
        sum += config->layer[i].output_dim;
    return sum;
}

static enum error_code add_layer(struct model *model, int number, struct error *err)
{
    const struct model_config *config = &model->config;
    const struct layer_config *own = &config->layer[number];
    const bool is_last = number == config->layer_count - 1;
    struct model_layer *layer = &model->layer[number];
    *layer = (struct model_layer){.config = *own,
                                  .type = layer_type_of(own->kind),
                                  .input_dim = model_layer_reads(config, number),
                                  .own_dim = model_layer_reads(config, number),
                                  .reads_all = is_last && config->jumping_knowledge >= JUMP_CAT,
                                  .joins_heads = !is_last,
                                  .hop = model->hop_count,
                                  .second_input = -1};
    if (layer->type->reads_edges >> EDGE_FEATURE & 1)
        layer->edge_dim = config->edge_dim;
    layer_fill_options(layer);
    if (layer->type->reads_start)
        layer->second_input = model_layer_start(config, number);
    model->hop_count += layer->type->uses_edges;
    model->reads_edges |= layer->type->reads_edges;
    model->divides_by_ends |= layer->type->divides_by_ends;
    model->needs_degree |= layer->type->needs_degree || layer->config.option.aggr == LAYER_AGGR_ADD;
    const enum error_code rc = layer_row_check(layer, err);
    if (rc != ERROR_NONE)
        return error_context(err, rc, "layer %d of the model (%s)", number + 1,
                             layer_names[layer->config.kind]);
    add_own_parameters(model, layer, number);
    add_tail_parameters(model, layer, number);
    return ERROR_NONE;
}

static uint32_t decoder_outputs(const struct model *model)
{
    return model->config.decoder_outputs ? model->config.decoder_outputs : 1;
}

/* Of pairs; 1 where they have none. */
static uint32_t relations_of(const struct model *model)
{
    return model->config.types.pair_relations ? model->config.types.pair_relations : 1;
}

static int decoder_parameters(const struct model *model, struct decoder_parameter *own)
{
    return decoder_type_of(model->config.decoder)
        ->parameters(model_output_dim(model), decoder_outputs(model), relations_of(model), own);
}

static void add_decoder(struct model *model)
{
    struct decoder_parameter own[DECODER_PARAMETER_COUNT_MAX] = {0};
    char name[PARAMETER_NAME_SIZE];
    const int count = decoder_parameters(model, own);
    model->head_parameter = model->parameter_count;
    for (int i = 0; i < count; i++) {
        const struct layer_parameter one = {.dim_count = own[i].dim_count,
                                            .rows = own[i].rows,
                                            .cols = own[i].cols,
                                            .bound = own[i].bound};
        (void)snprintf(name, sizeof name, "decoder.%s", own[i].suffix);
        struct parameter *parameter = &model->parameter[add_parameter(model, name, &one)];
        if (own[i].dim_count == 3) { /* a matrix for each output */
            parameter->dim[0] = decoder_outputs(model);
            parameter->dim[1] = own[i].rows / decoder_outputs(model);
        }
    }
}

static int decoder_parameter_count(const struct model *model)
{
    struct decoder_parameter own[DECODER_PARAMETER_COUNT_MAX];
    return decoder_parameters(model, own);
}

struct decoder model_decoder(const struct model *model, const float *value)
{
    struct decoder out = {.type = decoder_type_of(model->config.decoder),
                          .dim = model_output_dim(model),
                          .outputs = decoder_outputs(model),
                          .relation_count = relations_of(model)};
    for (int i = 0; i < decoder_parameter_count(model); i++)
        out.parameter[i] = value + model->parameter[model->head_parameter + i].offset;
    return out;
}

void model_decoder_gradient(const struct model *model, float *gradient,
                            float *parameter_gradient[DECODER_PARAMETER_COUNT_MAX])
{
    for (int i = 0; i < decoder_parameter_count(model); i++)
        parameter_gradient[i] = gradient + model->parameter[model->head_parameter + i].offset;
}

static void add_graph_classifier(struct model *model)
{
    const uint32_t dim = model_output_dim(model), outputs = model->config.graph_outputs;
    const struct layer_parameter weight = {
        .dim_count = 2, .rows = outputs, .cols = dim, .bound = layer_linear_bound(dim)};
    const struct layer_parameter bias = {
        .dim_count = 1, .rows = outputs, .cols = 1, .bound = layer_linear_bound(dim)};
    model->head_parameter = add_parameter(model, "classifier.weight", &weight);
    (void)add_parameter(model, "classifier.bias", &bias);
}

struct graph_classifier model_graph_classifier(const struct model *model, const float *value)
{
    const struct parameter *first = &model->parameter[model->head_parameter];
    return (struct graph_classifier){.dim = model_output_dim(model),
                                     .outputs = model->config.graph_outputs,
                                     .weight = value + first[0].offset,
                                     .bias = value + first[1].offset};
}

void model_graph_classifier_gradient(const struct model *model, float *gradient, float **weight,
                                     float **bias)
{
    const struct parameter *first = &model->parameter[model->head_parameter];
    *weight = gradient + first[0].offset;
    *bias = gradient + first[1].offset;
}

void model_take_head_gradient(const struct model *model, const float *from, float *gradient)
{
    const int first = model->head_parameter;
    const uint64_t offset =
        first < model->parameter_count ? model->parameter[first].offset : model->trained_count;
    if (offset < model->trained_count)
        memcpy(gradient + offset, from + offset,
               (model->trained_count - offset) * sizeof *gradient);
}

/* ReLU with dropout, and nothing at all, are done inside a layer. An output that more than the next layer reads has
 * more than one gradient, and they are added up behind the layer. */
static void find_tails(struct model *model)
{
    const int last = model->config.layer_count - 1;
    for (int i = 0; i <= last; i++) {
        struct model_layer *layer = &model->layer[i];
        const bool drops = i < last && layer->config.dropout > 0;
        layer->has_tail |= layer->config.residual || layer->config.norm != NORM_NONE ||
                           (layer->config.activation != ACTIVATION_RELU &&
                            (layer->config.activation != ACTIVATION_NONE || drops));
        if (layer->second_input >= 0)
            model->layer[layer->second_input].has_tail = true;
        if (layer->config.residual && i > 0)
            model->layer[i - 1].has_tail = true;
        if (i < last && model->layer[last].reads_all)
            layer->has_tail = true;
    }
}

/* --- checks --- */

static enum error_code check_width(uint32_t dim, const char *what, struct error *err)
{
    /* So that no count of values, bytes or tiles of a layer comes near 2^63. */
    const uint32_t dim_max = 1U << 24;
    if (dim >= 1 && dim <= dim_max)
        return ERROR_NONE;
    return error_set(err, ERROR_INVALID,
                     "the %s width is %" PRIu32 "; 1 to %" PRIu32 " are possible", what, dim,
                     dim_max);
}

enum error_code model_check_jump(const struct model_config *config, int number, struct error *err)
{
    const uint32_t dim = config->layer[number].output_dim, first = config->layer[0].output_dim;
    if (config->jumping_knowledge != JUMP_MAX || number == config->layer_count - 1 || dim == first)
        return ERROR_NONE;
    return error_set(err, ERROR_INVALID,
                     "its width is %" PRIu32 " and that of the first layer %" PRIu32
                     ", and jumping_knowledge max wants the same of all",
                     dim, first);
}

static enum error_code check_layer(const struct model_config *config, int number, struct error *err)
{
    const struct layer_config *own = &config->layer[number];
    const struct layer_type *type = layer_type_of(own->kind);
    const bool is_last = number == config->layer_count - 1;
    const uint32_t input_dim = model_layer_reads(config, number);
    const enum error_code rc = check_width(own->output_dim, "output", err);
    if (rc != ERROR_NONE)
        return rc;
    if (type->only_typed)
        return error_set(err, ERROR_INVALID,
                         "this kind is for graphs with relations, and this one has none");
    if (type->has_heads && !is_last && own->option.heads > 1 &&
        own->output_dim % own->option.heads != 0)
        return error_set(err, ERROR_INVALID,
                         "the output width is %" PRIu32 ", which its %" PRId64
                         " heads do not divide",
                         own->output_dim, own->option.heads);
    if (!(own->dropout >= 0 && own->dropout < 1))
        return error_set(err, ERROR_INVALID, "dropout is %g; at least 0 and below 1 is possible",
                         own->dropout);
    if (is_last && (own->activation != ACTIVATION_NONE || own->norm != NORM_NONE))
        return error_set(err, ERROR_INVALID,
                         "its output are the logits, so its norm and its activation must be none, "
                         "not %s and %s",
                         norm_names[own->norm], activation_names[own->activation]);
    const enum error_code jumps = model_check_jump(config, number, err);
    if (jumps != ERROR_NONE)
        return jumps;
    if (type->reads_start && model_layer_start(config, number) < 0)
        return error_set(err, ERROR_INVALID, LAYER_WITHOUT_START);
    for (int i = 0; type->prefix && !*type->prefix && i < number; i++)
        if (config->layer[i].kind == own->kind)
            return error_set(err, ERROR_INVALID,
                             "a model has one layer of this kind, and layer %d "
                             "is one too",
                             i + 1);
    if (type->keeps_width && own->output_dim != input_dim)
        return error_set(err, ERROR_INVALID,
                         "it gives as many columns as it reads, %" PRIu32 ", not %" PRIu32,
                         input_dim, own->output_dim);
    return ERROR_NONE;
}

static enum error_code check_config(const struct model_config *config, struct error *err)
{
    if (config->layer_count < 1 || config->layer_count > LAYER_COUNT_MAX)
        return error_set(err, ERROR_INVALID, "a model of %d layers; 1 to %d are possible",
                         config->layer_count, (int)LAYER_COUNT_MAX);
    enum error_code rc = check_width(config->input_dim, "input", err);
    for (int i = 0; rc == ERROR_NONE && i < config->layer_count; i++) {
        rc = check_layer(config, i, err);
        if (rc != ERROR_NONE)
            rc = error_context(err, rc, "layer %d of the model (%s)", i + 1,
                               layer_names[config->layer[i].kind]);
    }
    return rc;
}

bool model_is_possible_in_bf16(const struct model *model)
{
    for (int i = 0; i < model->config.layer_count; i++)
        if (model_is_typed(model) || model->layer[i].type->forward || model->layer[i].has_tail)
            return false;
    return true;
}

enum error_code model_init(struct model *out, const struct model_config *config, struct error *err)
{
    *out = (struct model){0};
    if (config->types.schema.type_count > 0) {
        out->config = *config;
        const enum error_code typed = typed_model_init(out, err);
        if (typed == ERROR_NONE && config->decoder)
            add_decoder(out);
        out->trained_count = out->value_count;
        return typed == ERROR_NONE ? typed_model_add_buffers(out, err) : typed;
    }
    enum error_code rc = check_config(config, err);
    out->config = *config;
    for (int layer = 0; rc == ERROR_NONE && layer < config->layer_count; layer++)
        rc = add_layer(out, layer, err);
    if (rc != ERROR_NONE)
        return rc;
    if (config->decoder)
        add_decoder(out);
    if (config->readout)
        add_graph_classifier(out);
    out->trained_count = out->value_count;
    for (int layer = 0; layer < config->layer_count; layer++)
        add_buffers(out, &out->layer[layer], layer);
    find_tails(out);
    if (config->precision != PRECISION_FP32 && !model_is_possible_in_bf16(out))
        return error_set(err, ERROR_INVALID,
                         "this model is computed in fp32 alone: bf16 is for layers of kinds that "
                         "are linear, which ReLU and dropout follow");
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

void model_initialise(const struct model *model, uint64_t seed, float *value)
{
    const struct random_stream stream = random_stream_of(seed, RANDOM_WEIGHT, 0, 0, 0);
    for (int i = 0; i < model->parameter_count; i++) {
        const struct parameter *parameter = &model->parameter[i];
        const uint64_t end = parameter->offset + (uint64_t)parameter->rows * parameter->cols;
        for (uint64_t at = parameter->offset; at < end; at++) {
            uint32_t word[4];
            random_block(&stream, at / 4, 0, word);
            value[at] = parameter->start != 0
                            ? parameter->start
                            : (2 * random_unit(word[at % 4]) - 1) * parameter->bound;
        }
    }
}
