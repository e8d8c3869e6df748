#include "common/nn/model_check.h"

#include "common/nn/layers/layer.h"
#include "common/nn/typed/layer_row.h"
#include "common/nn/typed/relation_convs.h"

#include <inttypes.h>

/* --- types --- */

static bool is_target(const struct relation_schema *schema, uint32_t type)
{
    for (uint32_t r = 0; r < schema->relation_count; r++)
        if (schema->relation[r].target_type == type)
            return true;
    return false;
}

/* `name` is the type whose width this is; "" if there is only one. */
static enum error_code check_dim(uint32_t dim, const char *what, const char *name,
                                 struct error *err)
{
    /* The limit keeps every count of values, bytes or tiles of a layer far below 2^63. */
    const uint32_t dim_max = 1U << 24;
    if (dim >= 1 && dim <= dim_max)
        return ERROR_NONE;
    return error_set(err, ERROR_INVALID,
                     "the %s width%s%s is %" PRIu32 "; 1 to %" PRIu32 " are possible", what,
                     *name ? " of " : "", name, dim, dim_max);
}

static enum error_code check_relations(const struct model_types *types, struct error *err)
{
    const struct relation_schema *schema = &types->schema;
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
    return ERROR_NONE;
}

enum error_code model_check_types(const struct model_config *config, struct error *err)
{
    const struct model_types *types = &config->types;
    if (config->layer_count < 1 || config->layer_count > LAYER_COUNT_MAX)
        return error_set(err, ERROR_INVALID, "a model of %d layers; 1 to %d are possible",
                         config->layer_count, (int)LAYER_COUNT_MAX);
    enum error_code rc = check_relations(types, err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < types->schema.type_count; t++) {
        rc = check_dim(types->input_dim[t], "input", types->schema.type_name[t], err);
        if (rc == ERROR_NONE && types->projects[t])
            rc = check_dim(types->projected_dim, "projected", types->schema.type_name[t], err);
    }
    return rc;
}

/* --- layers --- */

/* Refuses a layer that gives only target rows if a later layer needs rows of another type. */
static enum error_code check_targets(const struct model *model, int number, struct error *err)
{
    const struct relation_schema *schema = &model->config.types.schema;
    const bool is_last = number == model->config.layer_count - 1;
    const bool reads_all = model->config.jumping_knowledge >= JUMP_CAT;
    const struct model_layer *layer = &model->layer[number];
    if (layer->typed ? !layer->typed->wants_target_rows : !layer->type->uses_edges)
        return ERROR_NONE;
    for (uint32_t t = 0; (is_last || reads_all) && t < schema->type_count; t++)
        if (model_gives(model, t) && !is_target(schema, t))
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

static enum error_code check_jump(const struct model_config *config, int number, struct error *err)
{
    const uint32_t dim = config->layer[number].output_dim, first = config->layer[0].output_dim;
    if (config->jumping_knowledge != JUMP_MAX || number == config->layer_count - 1 || dim == first)
        return ERROR_NONE;
    return error_set(err, ERROR_INVALID,
                     "its width is %" PRIu32 " and that of the first layer %" PRIu32
                     ", and jumping_knowledge max wants the same of all",
                     dim, first);
}

/* Checks the settings of one layer by themselves. */
static enum error_code check_own(const struct model *model, int number, struct error *err)
{
    const struct layer_config *own = &model->config.layer[number];
    const struct model_layer *layer = &model->layer[number];
    const struct layer_type *type = layer->type;
    const bool is_last = number == model->config.layer_count - 1;
    if (type->only_typed && !layer->typed)
        return error_set(err, ERROR_INVALID,
                         "this kind is for graphs with relations, and this one has none");
    if (type->has_heads && !is_last && layer->config.option.heads > 1 &&
        own->output_dim % layer->config.option.heads != 0)
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
    return ERROR_NONE;
}

/* Checks the layer against the other layers. */
static enum error_code check_place(const struct model *model, int number, struct error *err)
{
    const struct model_config *config = &model->config;
    const struct model_layer *layer = &model->layer[number];
    const struct layer_type *type = layer->type;
    if (type->reads_start && layer->second_input < 0)
        return error_set(
            err, ERROR_INVALID,
            "it also reads the output of a layer of another kind below it, and there is none");
    for (int i = 0; type->prefix && !*type->prefix && i < number; i++)
        if (config->layer[i].kind == layer->config.kind)
            return error_set(err, ERROR_INVALID,
                             "a model has one layer of this kind, and layer %d is one too", i + 1);
    return check_jump(config, number, err);
}

enum error_code model_check_layer(const struct model *model, int number, struct error *err)
{
    const struct model_layer *layer = &model->layer[number];
    enum error_code rc = check_dim(layer->config.output_dim, "output", "", err);
    if (rc == ERROR_NONE)
        rc = check_own(model, number, err);
    if (rc == ERROR_NONE)
        rc = check_place(model, number, err);
    if (rc == ERROR_NONE)
        rc = check_targets(model, number, err);
    if (rc != ERROR_NONE || !layer->typed)
        return rc == ERROR_NONE ? relation_convs_check(&model->config, layer, err) : rc;
    rc = layer_row_check_typed(layer, err);
    if (rc == ERROR_NONE && model->config.types.relation_aggr == RELATION_AGGR_MAX)
        return error_set(err, ERROR_INVALID,
                         "it sums what its relations give, and train-step.relation_aggr is max");
    return rc == ERROR_NONE && layer->typed->check ? layer->typed->check(&model->config, layer, err)
                                                   : rc;
}

enum error_code model_check_hops(const struct model *model, struct error *err)
{
    const struct relation_schema *schema = &model->config.types.schema;
    if (model->hop_count > 0 || (schema->relation_count == 1 && schema->type_count == 1))
        return ERROR_NONE;
    return error_set(err, ERROR_INVALID,
                     "no layer of the model reads neighbours, so it has no use for relations and "
                     "for several node types");
}
