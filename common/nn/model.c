/* Builds the table of parameters. model_check.c checks the configuration, and model_pass.c computes
 * with the model. */
#include "common/nn/model.h"

#include "common/nn/layers/layer.h"
#include "common/nn/model_check.h"
#include "common/nn/operators/first_bounds.h"
#include "common/nn/typed/relation_convs.h"
#include "common/nn/typed/typed_layer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char plain_type[1][RELATION_NAME_SIZE];
static const struct relation plain_relation;
const struct relation_schema model_plain_schema = {
    .type_count = 1, .relation_count = 1, .type_name = plain_type, .relation = &plain_relation};

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

#define ROW(constant, name) #name,
const char *const relation_aggr_names[RELATION_AGGR_COUNT + 1] = {RELATION_AGGR_LIST(ROW) NULL};
#undef ROW

#define ROW(constant, name) #name,
const char *const type_projection_names[TYPE_PROJECTION_COUNT + 1] = {TYPE_PROJECTION_LIST(ROW)
                                                                          NULL};
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

static void add_projections(struct parameter_writer *writer)
{
    struct model *model = writer->model;
    const struct model_types *types = &model->config.types;
    for (uint32_t t = 0; t < types->schema.type_count; t++) {
        char key[RELATION_NAME_SIZE + 2];
        const uint32_t weight[] = {types->projected_dim, types->input_dim[t], 0, 0};
        model->projection_parameter[t] = types->projects[t] ? model->parameter_count : -1;
        if (!types->projects[t])
            continue;
        relation_type_key(&types->schema, t, key);
        (void)parameter_writer_add(writer, 2, weight, layer_linear_bound(types->input_dim[t]), 0,
                                   "lin_dict.%s.weight", key);
        (void)parameter_writer_add(writer, 1, weight, layer_linear_bound(types->input_dim[t]), 0,
                                   "lin_dict.%s.bias", key);
    }
}

/* Writes the key of a type and a dot; nothing for a type without a name. */
static void find_key(const struct parameter_writer *writer, uint32_t type,
                     char key[RELATION_NAME_SIZE + 3])
{
    char name[RELATION_NAME_SIZE + 2];
    relation_type_key(&writer->model->config.types.schema, type, name);
    (void)snprintf(key, RELATION_NAME_SIZE + 3, "%s%s", name, *name ? "." : "");
}

/* The names are those of PyG's BasicGNN, and those that to_hetero makes of them. */
static struct tail_parameters add_tail(struct parameter_writer *writer, uint32_t type)
{
    const struct layer_config *own = &writer->layer->config;
    const uint32_t dim = writer->layer->type_input_dim[type];
    const uint32_t shape[PARAMETER_DIM_COUNT_MAX] = {own->output_dim, dim};
    const char *module = own->norm == NORM_BATCH ? "module." : "";
    struct tail_parameters tail = {-1, -1, -1};
    char key[RELATION_NAME_SIZE + 3];
    find_key(writer, type, key);
    if (own->residual && dim != own->output_dim)
        tail.residual = parameter_writer_add(writer, 2, shape, layer_linear_bound(dim), 0,
                                             "residuals.%d.%sweight", writer->number, key);
    if (own->norm == NORM_NONE)
        return tail;
    tail.norm = parameter_writer_add(writer, 1, shape, 0, 1, "norms.%d.%s%sweight", writer->number,
                                     key, module);
    (void)parameter_writer_add(writer, 1, shape, 0, 0, "norms.%d.%s%sbias", writer->number, key,
                               module);
    return tail;
}

/* Buffers lie behind all trained parameters. */
static void add_buffers(struct parameter_writer *writer, struct model_layer *layer)
{
    const struct model *model = writer->model;
    char key[RELATION_NAME_SIZE + 3], module[2 * RELATION_NAME_SIZE];
    for (uint32_t t = 0;
         layer->config.norm == NORM_BATCH && t < model->config.types.schema.type_count; t++) {
        find_key(writer, t, key);
        (void)snprintf(module, sizeof module, "norms.%d.%smodule", writer->number, key);
        layer->type_tail[t].buffer =
            parameter_writer_statistics(writer, layer->config.output_dim, module);
    }
    layer->buffer_parameter = layer->type_tail[0].buffer;
    layer->inner_buffer_parameter = model->parameter_count;
    if (layer->config.inner_norm == NORM_BATCH)
        relation_convs_buffers(writer);
}

/* Returns the second input of layer `number`: the layer whose output is the input of the lowest
 * layer in its run of layers of one kind; -1: none. */
static int find_start(const struct model_config *config, int number)
{
    int first = number;
    while (first > 0 && config->layer[first - 1].kind == config->layer[number].kind)
        first--;
    return first - 1;
}

/* Returns the columns of the rows of a type that layer `number` reads. */
static uint32_t find_input_dim(const struct model_config *config, int number, uint32_t type)
{
    const struct model_types *types = &config->types;
    uint32_t sum = 0;
    if (number == 0)
        return types->projects[type] ? types->projected_dim : types->input_dim[type];
    if (config->jumping_knowledge != JUMP_CAT || number < config->layer_count - 1)
        return config->layer[number - 1].output_dim;
    for (int i = 0; i < number; i++)
        sum += config->layer[i].output_dim;
    return sum;
}

/* Returns how the layer computes on all relations at once, or NULL. One relation from a type to
 * itself is a plain graph, so its layer is one pass. The maximum over relations cannot be computed
 * as one sum over all of them. */
static const struct typed_kind *typed_of(const struct model_types *types,
                                         const struct layer_type *type)
{
    const struct relation_schema *schema = &types->schema;
    const bool is_named = *schema->type_name[0];
    if (!type->typed || !is_named)
        return NULL;
    if (type->only_typed)
        return type->typed;
    const bool is_whole = schema->relation_count == 1 && schema->type_count == 1;
    return is_whole || types->relation_aggr == RELATION_AGGR_MAX ? NULL : type->typed;
}

static void begin_layer(struct model *model, int number)
{
    const struct model_config *config = &model->config;
    const struct layer_config *own = &config->layer[number];
    const bool is_last = number == config->layer_count - 1;
    struct model_layer *layer = &model->layer[number];
    *layer = (struct model_layer){.config = *own,
                                  .type = layer_type_of(own->kind),
                                  .in_relation = *config->types.schema.type_name[0],
                                  .reads_all = is_last && config->jumping_knowledge >= JUMP_CAT,
                                  .joins_heads = !is_last,
                                  .hop = model->hop_count,
                                  .second_input = -1};
    layer->typed = typed_of(&config->types, layer->type);
    for (uint32_t t = 0; t < config->types.schema.type_count; t++)
        layer->type_input_dim[t] = find_input_dim(config, number, t);
    layer->input_dim = layer->own_dim = layer->type_input_dim[0];
    layer->reads_edges = layer->type->reads_edges;
    if (layer->reads_edges >> EDGE_FEATURE & 1)
        layer->edge_dim = config->edge_dim;
    layer_fill_options(layer);
    if (layer->type->reads_start)
        layer->second_input = find_start(config, number);
}

/* Describes the tensors of one pass. */
static void describe_place(struct model_layer *layer)
{
    struct layer_parameter own[LAYER_PARAMETER_COUNT_MAX] = {0};
    int matrices = 0;
    layer->own_tensor = -1;
    layer->place_parameters = layer->typed ? 0 : layer->type->parameters(layer, own);
    for (int i = 0; i < layer->place_parameters; i++) {
        matrices += own[i].dim_count > 1;
        if (own[i].dim_count > 1 && matrices == 2 && !layer->type->forward)
            layer->own_tensor = i;
    }
}

static void add_layer(struct parameter_writer *writer, int number)
{
    struct model *model = writer->model;
    struct model_layer *layer = &model->layer[number];
    const struct layer_type *type = layer_type_of(model->config.layer[number].kind);
    begin_layer(model, number);
    writer->layer = layer;
    writer->number = number;
    writer->rc = model_check_layer(model, number, writer->err);
    model->hop_count += type->uses_edges;
    model->reads_edges |= layer->reads_edges;
    model->divides_by_ends |= type->divides_by_ends;
    model->needs_degree |= type->needs_degree || layer->config.option.aggr == LAYER_AGGR_ADD;
    layer->first_parameter = model->parameter_count;
    if (writer->rc == ERROR_NONE) {
        describe_place(layer);
        (layer->typed ? layer->typed->parameters : relation_convs_parameters)(writer);
    }
    layer->parameter_count = model->parameter_count - layer->first_parameter;
    for (uint32_t t = 0; t < model->config.types.schema.type_count; t++)
        layer->type_tail[t] = add_tail(writer, t);
    layer->residual_parameter = layer->type_tail[0].residual;
    layer->norm_parameter = layer->type_tail[0].norm;
    layer->buffer_parameter = layer->type_tail[0].buffer;
    if (writer->rc != ERROR_NONE)
        writer->rc = error_context(writer->err, writer->rc, "layer %d of the model (%s)",
                                   number + 1, layer_names[layer->config.kind]);
}

/* --- heads --- */

static uint32_t decoder_outputs(const struct model *model)
{
    return model->config.decoder_outputs ? model->config.decoder_outputs : 1;
}

/* Returns the number of relations that pairs have; 1 if they have none. */
static uint32_t relations_of(const struct model *model)
{
    return model->config.types.pair_relations ? model->config.types.pair_relations : 1;
}

static int decoder_parameters(const struct model *model, struct decoder_parameter *own)
{
    return decoder_type_of(model->config.decoder)
        ->parameters(model_output_dim(model), decoder_outputs(model), relations_of(model), own);
}

static void add_decoder(struct parameter_writer *writer)
{
    const struct model *model = writer->model;
    struct decoder_parameter own[DECODER_PARAMETER_COUNT_MAX] = {0};
    const int count = decoder_parameters(model, own);
    for (int i = 0; i < count; i++) {
        /* one matrix for each relation, or one in all */
        const uint32_t outputs = decoder_outputs(model);
        const uint32_t matrix[PARAMETER_DIM_COUNT_MAX] = {own[i].rows, own[i].cols};
        const uint32_t matrices[PARAMETER_DIM_COUNT_MAX] = {outputs, own[i].rows / outputs,
                                                            own[i].cols};
        (void)parameter_writer_add(writer, own[i].dim_count,
                                   own[i].dim_count == 3 ? matrices : matrix, own[i].bound, 0,
                                   "decoder.%s", own[i].suffix);
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

static void add_graph_classifier(struct parameter_writer *writer)
{
    const uint32_t dim = model_output_dim(writer->model);
    const uint32_t shape[PARAMETER_DIM_COUNT_MAX] = {writer->model->config.graph_outputs, dim};
    const float bound = layer_linear_bound(dim);
    (void)parameter_writer_add(writer, 2, shape, bound, 0, "classifier.weight");
    (void)parameter_writer_add(writer, 1, shape, bound, 0, "classifier.bias");
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

/* Decides which layers have a tail. ReLU with dropout, or no operation at all, runs inside a layer.
 * If layers beside the next one read an output, it has several gradients, and the tail adds them
 * up. */
static void find_tails(struct model *model)
{
    const int last = model->config.layer_count - 1;
    for (int i = 0; i <= last; i++) {
        struct model_layer *layer = &model->layer[i];
        const bool drops = i < last && layer->config.dropout > 0;
        const bool ends_inside =
            layer->config.activation == ACTIVATION_RELU && (!layer->typed || layer->typed->sums);
        layer->has_tail |= layer->config.residual || layer->config.norm != NORM_NONE ||
                           (!ends_inside && (layer->config.activation != ACTIVATION_NONE || drops));
        if (layer->second_input >= 0)
            model->layer[layer->second_input].has_tail = true;
        if (layer->config.residual && i > 0)
            model->layer[i - 1].has_tail = true;
        if (i < last && model->layer[last].reads_all)
            layer->has_tail = true;
    }
}

bool model_is_possible_in_bf16(const struct model *model)
{
    for (int i = 0; i < model->config.layer_count; i++)
        if ((model->layer[i].typed ? !model->layer[i].typed->sums
                                   : model->layer[i].type->forward != NULL) ||
            model->layer[i].has_tail)
            return false;
    return true;
}

enum error_code model_init(struct model *out, const struct model_config *config, struct error *err)
{
    struct parameter_writer writer = {.model = out, .err = err};
    memset(out, 0, sizeof *out); /* a literal would put a whole model on the stack */
    out->config = *config;
    if (config->types.schema.type_count == 0) {
        out->config.types.schema = model_plain_schema;
        out->config.types.input_dim[0] = config->input_dim;
    }
    writer.rc = model_check_types(&out->config, err);
    if (writer.rc == ERROR_NONE)
        add_projections(&writer);
    for (int i = 0; writer.rc == ERROR_NONE && i < config->layer_count; i++)
        add_layer(&writer, i);
    if (writer.rc == ERROR_NONE)
        writer.rc = model_check_hops(out, err);
    out->head_parameter = out->parameter_count;
    if (writer.rc == ERROR_NONE && config->decoder)
        add_decoder(&writer);
    if (writer.rc == ERROR_NONE && config->readout)
        add_graph_classifier(&writer);
    out->trained_count = out->value_count;
    for (int i = 0; writer.rc == ERROR_NONE && i < config->layer_count; i++) {
        writer.layer = &out->layer[i];
        writer.number = i;
        add_buffers(&writer, &out->layer[i]);
    }
    find_tails(out);
    if (writer.rc == ERROR_NONE && config->precision != PRECISION_FP32 &&
        !model_is_possible_in_bf16(out))
        return error_set(err, ERROR_INVALID,
                         "this model is computed in fp32 alone: bf16 is for layers of kinds that "
                         "are linear, which ReLU and dropout follow");
    return writer.rc;
}

/* --- what logits need --- */

void model_needs(const struct model *model, int layer, bool needed[RELATION_TYPE_COUNT_MAX])
{
    const struct model_types *types = &model->config.types;
    for (uint32_t t = 0; t < RELATION_TYPE_COUNT_MAX; t++)
        needed[t] = model_gives(model, t);
    for (int above = model->config.layer_count - 1; above > layer; above--) {
        bool wanted[RELATION_TYPE_COUNT_MAX];
        memcpy(wanted, needed, sizeof wanted); /* each destination also needs its own row */
        for (uint32_t r = 0;
             model->layer[above].type->uses_edges && r < types->schema.relation_count; r++)
            needed[types->schema.relation[r].source_type] |=
                wanted[types->schema.relation[r].target_type];
    }
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
