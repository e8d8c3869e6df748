/* Checks, and the table of parameters; typed_model_pass.c computes with it. */
#include "common/nn/typed/typed_model.h"

#include "common/nn/layers/layer.h"
#include "common/nn/layers/layer_row.h"
#include "common/nn/typed/typed_layer.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define ROW(constant, name) #name,
const char *const relation_aggr_names[RELATION_AGGR_COUNT + 1] = {RELATION_AGGR_LIST(ROW) NULL};
#undef ROW

#define ROW(constant, name) #name,
const char *const type_projection_names[TYPE_PROJECTION_COUNT + 1] = {TYPE_PROJECTION_LIST(ROW)
                                                                          NULL};
#undef ROW

/* --- names --- */

static void replace_dots(char *key)
{
    for (; *key; key++)
        if (*key == '.')
            *key = '#';
}

void relation_key(const struct relation_schema *schema, uint32_t relation,
                  char key[RELATION_KEY_SIZE])
{
    const struct relation *own = &schema->relation[relation];
    (void)snprintf(key, RELATION_KEY_SIZE, "<%s___%s___%s>", schema->type_name[own->source_type],
                   own->name, schema->type_name[own->target_type]);
    replace_dots(key);
}

void relation_joined_key(const struct relation_schema *schema, uint32_t relation,
                         char key[RELATION_KEY_SIZE])
{
    const struct relation *own = &schema->relation[relation];
    (void)snprintf(key, RELATION_KEY_SIZE, "%s__%s__%s", schema->type_name[own->source_type],
                   own->name, schema->type_name[own->target_type]);
    replace_dots(key);
}

void relation_type_key(const struct relation_schema *schema, uint32_t type,
                       char key[RELATION_NAME_SIZE + 2])
{
    (void)snprintf(key, RELATION_NAME_SIZE + 2, "%s", schema->type_name[type]);
    replace_dots(key);
}

/* --- tensors --- */

void parameter_writer_add(struct parameter_writer *writer, int dim_count,
                          const uint32_t dim[PARAMETER_DIM_COUNT_MAX], float bound, float start,
                          const char *name, ...)
{
    struct model *model = writer->model;
    struct parameter parameter = {.dim_count = dim_count,
                                  .cols = 1,
                                  .rows = 1,
                                  .bound = bound,
                                  .start = start,
                                  .offset = model->value_count};
    va_list arguments;
    if (writer->rc != ERROR_NONE)
        return;
    va_start(arguments, name);
    const int size = vsnprintf(parameter.name, sizeof parameter.name, name, arguments);
    va_end(arguments);
    if (size < 0 || (size_t)size >= sizeof parameter.name)
        writer->rc = error_set(writer->err, ERROR_INVALID,
                               "the name of a tensor, '%s...', is longer than %zu bytes: " ADVICE
                               "give types "
                               "and relations shorter names",
                               parameter.name, sizeof parameter.name - 1);
    else if (model->parameter_count == PARAMETER_COUNT_MAX - DECODER_PARAMETER_COUNT_MAX)
        writer->rc = error_set(
            writer->err, ERROR_INVALID,
            "a model of more than %d tensors: with so many relations take rgcn, which has "
            "one for all",
            (int)PARAMETER_COUNT_MAX);
    if (writer->rc != ERROR_NONE)
        return;
    for (int i = 0; i < dim_count; i++) {
        parameter.dim[i] = dim[i];
        if (i == dim_count - 1 && i > 0)
            parameter.cols = dim[i];
        else
            parameter.rows *= dim[i];
    }
    model->parameter[model->parameter_count++] = parameter;
    model->value_count += (uint64_t)parameter.rows * parameter.cols;
}

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
        parameter_writer_add(writer, 2, weight, layer_linear_bound(types->input_dim[t]), 0,
                             "lin_dict.%s.weight", key);
        parameter_writer_add(writer, 1, weight, layer_linear_bound(types->input_dim[t]), 0,
                             "lin_dict.%s.bias", key);
    }
}

/* The name that to_hetero gives a tensor of a norm. */
static void add_norm_vector(struct parameter_writer *writer, uint32_t type, const char *suffix,
                            float start)
{
    char key[RELATION_NAME_SIZE + 2];
    const uint32_t dim[PARAMETER_DIM_COUNT_MAX] = {writer->layer->config.output_dim};
    relation_type_key(&writer->model->config.types.schema, type, key);
    parameter_writer_add(writer, 1, dim, 0, start, "norms.%d.%s.%s%s", writer->number, key,
                         writer->layer->config.norm == NORM_BATCH ? "module." : "", suffix);
}

static void add_tail_of_type(struct parameter_writer *writer, struct model_layer *layer,
                             uint32_t type)
{
    const uint32_t dim = layer->type_input_dim[type];
    struct tail_parameters *tail = &layer->type_tail[type];
    *tail = (struct tail_parameters){-1, -1, -1};
    if (layer->config.residual && dim != layer->config.output_dim) {
        char key[RELATION_NAME_SIZE + 2];
        const uint32_t matrix[] = {layer->config.output_dim, dim, 0, 0};
        relation_type_key(&writer->model->config.types.schema, type, key);
        tail->residual = writer->model->parameter_count;
        parameter_writer_add(writer, 2, matrix, layer_linear_bound(dim), 0,
                             "residuals.%d.%s.weight", writer->number, key);
    }
    if (layer->config.norm == NORM_NONE)
        return;
    tail->norm = writer->model->parameter_count;
    add_norm_vector(writer, type, "weight", 1);
    add_norm_vector(writer, type, "bias", 0);
}

static void add_buffers_of_type(struct parameter_writer *writer, struct model_layer *layer,
                                uint32_t type)
{
    const uint32_t dim[PARAMETER_DIM_COUNT_MAX] = {1};
    char key[RELATION_NAME_SIZE + 2];
    if (layer->config.norm != NORM_BATCH)
        return;
    relation_type_key(&writer->model->config.types.schema, type, key);
    layer->type_tail[type].buffer = writer->model->parameter_count;
    add_norm_vector(writer, type, "running_mean", 0);
    add_norm_vector(writer, type, "running_var", 1);
    parameter_writer_add(writer, 1, dim, 0, 0, "norms.%d.%s.module.num_batches_tracked",
                         writer->number, key);
    if (writer->rc == ERROR_NONE)
        writer->model->parameter[writer->model->parameter_count - 1].is_count = true;
}

/* --- checks --- */

static bool is_target(const struct relation_schema *schema, uint32_t type)
{
    for (uint32_t r = 0; r < schema->relation_count; r++)
        if (schema->relation[r].target_type == type)
            return true;
    return false;
}

static enum error_code check_dim(uint32_t dim, const char *what, const char *name,
                                 struct error *err)
{
    const uint32_t dim_max = 1U << 24;
    if (dim >= 1 && dim <= dim_max)
        return ERROR_NONE;
    return error_set(err, ERROR_INVALID,
                     "the %s width of %s is %" PRIu32 "; 1 to %" PRIu32 " are possible", what, name,
                     dim, dim_max);
}

static enum error_code check_types(const struct model_types *types, struct error *err)
{
    const struct relation_schema *schema = &types->schema;
    enum error_code rc = ERROR_NONE;
    if (schema->type_count < 1 || schema->type_count > RELATION_TYPE_COUNT_MAX ||
        schema->relation_count < 1 || schema->relation_count > RELATION_COUNT_MAX)
        return error_set(err, ERROR_INVALID,
                         "%" PRIu32 " node types and %" PRIu32
                         " relations; 1 to %d and 1 to %d are possible",
                         schema->type_count, schema->relation_count, (int)RELATION_TYPE_COUNT_MAX,
                         (int)RELATION_COUNT_MAX);
    for (uint32_t r = 0; r < schema->relation_count; r++)
        if (schema->relation[r].source_type >= schema->type_count ||
            schema->relation[r].target_type >= schema->type_count)
            return error_set(err, ERROR_INVALID,
                             "relation %s leads from type %d to type %d, of %" PRIu32 " types",
                             schema->relation[r].name, schema->relation[r].source_type,
                             schema->relation[r].target_type, schema->type_count);
    if (types->target_type >= schema->type_count)
        return error_set(err, ERROR_INVALID,
                         "the logits are those of type %" PRIu32 ", of %" PRIu32 " types",
                         types->target_type, schema->type_count);
    for (uint32_t t = 0; rc == ERROR_NONE && t < schema->type_count; t++) {
        rc = check_dim(types->input_dim[t], "input", schema->type_name[t], err);
        if (rc == ERROR_NONE && types->projects[t])
            rc = check_dim(types->projected_dim, "projected", schema->type_name[t], err);
    }
    return rc;
}

/* Whether the logits are of rows of the type. */
static bool gives(const struct model_types *types, uint32_t type)
{
    return types->gives_all ? type < types->schema.type_count : type == types->target_type;
}

/* What a layer of a kind that gives no others has to give. */
static enum error_code check_targets(const struct model *model, int number, struct error *err)
{
    const struct model_types *types = &model->config.types;
    const struct relation_schema *schema = &types->schema;
    const bool is_last = number == model->config.layer_count - 1;
    const bool reads_all = model->config.jumping_knowledge >= JUMP_CAT;
    if (!model->layer[number].type->typed->wants_target_rows)
        return ERROR_NONE;
    for (uint32_t t = 0; (is_last || reads_all) && t < schema->type_count; t++)
        if (gives(types, t) && !is_target(schema, t))
            return error_set(
                err, ERROR_INVALID,
                "no relation leads to type %s, so the layer gives no rows of it, and its "
                "logits are asked for: declare the reverses of relations (add_reverse)",
                schema->type_name[t]);
    for (uint32_t r = 0; !is_last && r < schema->relation_count; r++)
        if (!is_target(schema, schema->relation[r].source_type))
            return error_set(err, ERROR_INVALID,
                             "no relation leads to type %s, so the layer gives no rows of it, and "
                             "relation %s of the next one begins there: declare the reverses of "
                             "relations (add_reverse)",
                             schema->type_name[schema->relation[r].source_type],
                             schema->relation[r].name);
    return ERROR_NONE;
}

static enum error_code check_layer(const struct model *model, int number, struct error *err)
{
    const struct model_config *config = &model->config;
    const struct layer_config *own = &config->layer[number];
    const struct model_layer *layer = &model->layer[number];
    const bool is_last = number == config->layer_count - 1;
    if (!layer->type->typed) /* first: a kind that only passes rows on has no width here yet */
        return error_set(err, ERROR_INVALID, "this kind is not for graphs with relations");
    enum error_code rc = check_dim(own->output_dim, "output", "the layer", err);
    if (rc == ERROR_NONE)
        rc = layer_row_check_typed(layer, err);
    if (rc != ERROR_NONE)
        return rc;
    if (layer->type->has_heads && !is_last && own->output_dim % layer->config.option.heads != 0)
        return error_set(err, ERROR_INVALID,
                         "the output width is %" PRIu32 ", which its %" PRId64
                         " heads do not divide",
                         own->output_dim, layer->config.option.heads);
    if (!(own->dropout >= 0 && own->dropout < 1))
        return error_set(err, ERROR_INVALID, "dropout is %g; at least 0 and below 1 is possible",
                         own->dropout);
    if (is_last && (own->activation != ACTIVATION_NONE || own->norm != NORM_NONE))
        return error_set(err, ERROR_INVALID,
                         "its output are the logits, so its norm and its activation must be none, "
                         "not %s and %s",
                         norm_names[own->norm], activation_names[own->activation]);
    if (layer->type->reads_start && layer->second_input < 0)
        return error_set(err, ERROR_INVALID, LAYER_WITHOUT_START);
    rc = model_check_jump(config, number, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = check_targets(model, number, err);
    return rc == ERROR_NONE && layer->type->typed->check
               ? layer->type->typed->check(config, layer, err)
               : rc;
}

/* --- layers --- */

static void begin_layer(struct model *model, int number)
{
    const struct model_config *config = &model->config;
    const struct model_types *types = &config->types;
    const struct layer_config *own = &config->layer[number];
    struct model_layer *layer = &model->layer[number];
    *layer = (struct model_layer){.config = *own,
                                  .type = layer_type_of(own->kind),
                                  .joins_heads = number < config->layer_count - 1,
                                  .hop = model->hop_count,
                                  .has_tail = true,
                                  .second_input = -1,
                                  .residual_parameter = -1,
                                  .norm_parameter = -1,
                                  .buffer_parameter = -1};
    layer->reads_all =
        number == config->layer_count - 1 && config->jumping_knowledge >= JUMP_CAT && number > 0;
    if (layer->reads_all)
        layer->input_dim = model_layer_reads(config, number); /* of model_join_rows() */
    for (uint32_t t = 0; t < types->schema.type_count; t++)
        layer->type_input_dim[t] = number > 0           ? model_layer_reads(config, number)
                                   : types->projects[t] ? types->projected_dim
                                                        : types->input_dim[t];
    layer_fill_options(layer);
    if (layer->type->reads_start)
        layer->second_input = model_layer_start(config, number);
}

static enum error_code add_layer(struct parameter_writer *writer, int number)
{
    struct model *model = writer->model;
    struct model_layer *layer = &model->layer[number];
    begin_layer(model, number);
    writer->layer = layer;
    writer->number = number;
    writer->rc = check_layer(model, number, writer->err);
    if (writer->rc != ERROR_NONE)
        return error_context(writer->err, writer->rc, "layer %d of the model (%s)", number + 1,
                             layer_names[layer->config.kind]);
    model->hop_count += layer->type->uses_edges;
    model->reads_edges |= layer->type->reads_edges & ~(1U << EDGE_FEATURE);
    model->needs_degree |= layer->type->needs_degree || layer->config.option.aggr == LAYER_AGGR_ADD;
    model->divides_by_ends |= layer->type->divides_by_ends;
    layer->first_parameter = model->parameter_count;
    layer->type->typed->parameters(writer);
    layer->parameter_count = model->parameter_count - layer->first_parameter;
    for (uint32_t t = 0; t < model->config.types.schema.type_count; t++)
        add_tail_of_type(writer, layer, t);
    return writer->rc;
}

enum error_code typed_model_init(struct model *model, struct error *err)
{
    const struct model_config *config = &model->config;
    struct parameter_writer writer = {.model = model, .err = err};
    if (config->layer_count < 1 || config->layer_count > LAYER_COUNT_MAX)
        return error_set(err, ERROR_INVALID, "a model of %d layers; 1 to %d are possible",
                         config->layer_count, (int)LAYER_COUNT_MAX);
    if (config->precision != PRECISION_FP32)
        return error_set(err, ERROR_INVALID, "a model over relations is computed in fp32");
    writer.rc = check_types(&config->types, err);
    if (writer.rc == ERROR_NONE)
        add_projections(&writer);
    for (int i = 0; writer.rc == ERROR_NONE && i < config->layer_count; i++)
        writer.rc = add_layer(&writer, i);
    if (writer.rc == ERROR_NONE && model->hop_count == 0)
        writer.rc =
            error_set(err, ERROR_INVALID,
                      "no layer of the model reads neighbours, so it has no use for relations");
    return writer.rc;
}

enum error_code typed_model_add_buffers(struct model *model, struct error *err)
{
    const struct model_config *config = &model->config;
    struct parameter_writer writer = {.model = model, .err = err};
    for (int i = 0; writer.rc == ERROR_NONE && i < config->layer_count; i++) {
        writer.layer = &model->layer[i];
        writer.number = i;
        for (uint32_t t = 0; t < config->types.schema.type_count; t++)
            add_buffers_of_type(&writer, &model->layer[i], t);
    }
    return writer.rc;
}

/* --- what logits need --- */

void typed_model_needs(const struct model *model, int layer, bool needed[RELATION_TYPE_COUNT_MAX])
{
    const struct model_types *types = &model->config.types;
    for (uint32_t t = 0; t < RELATION_TYPE_COUNT_MAX; t++)
        needed[t] = gives(types, t);
    for (int above = model->config.layer_count - 1; above > layer; above--) {
        bool wanted[RELATION_TYPE_COUNT_MAX];
        memcpy(wanted, needed, sizeof wanted); /* each of its own rows, too */
        for (uint32_t r = 0;
             model->layer[above].type->uses_edges && r < types->schema.relation_count; r++)
            needed[types->schema.relation[r].source_type] |=
                wanted[types->schema.relation[r].target_type];
    }
}
