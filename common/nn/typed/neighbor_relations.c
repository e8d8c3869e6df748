#include "common/nn/typed/neighbor_relations.h"

#include "common/math/vector.h"
#include "common/nn/typed/relation_sums.h"

enum { NEIGHBOR_WEIGHT, BIAS, OWN_WEIGHT, COUNT };

static const char what[] = "the matrices of relations"; /* user of the memory, for messages */

static int tensor(uint32_t relation, int which)
{
    return (int)relation * COUNT + which;
}

static void parameters(struct parameter_writer *writer)
{
    const struct relation_schema *schema = &writer->model->config.types.schema;
    for (uint32_t r = 0; r < schema->relation_count; r++) {
        const struct relation *relation = &schema->relation[r];
        struct layer_parameter own[LAYER_PARAMETER_COUNT_MAX];
        struct model_layer layer = *writer->layer;
        char key[RELATION_KEY_SIZE];
        layer.input_dim = layer.type_input_dim[relation->source_type];
        layer.own_dim = layer.type_input_dim[relation->target_type];
        must(layer.type->parameters(&layer, own) == COUNT);
        relation_key(schema, r, key);
        for (int i = 0; i < COUNT; i++) {
            must((own[i].dim_count == 1) == (i == BIAS));
            const uint32_t dim[] = {own[i].rows, own[i].cols, 0, 0};
            parameter_writer_add(writer, own[i].dim_count, dim, own[i].bound, 0,
                                 "convs.%d.convs.%s.%s", writer->number, key, own[i].suffix);
        }
    }
}

/* Returns the number of values of a tensor of a relation. */
static size_t tensor_size(const struct typed_pass *pass, uint32_t relation, int which)
{
    const struct parameter *parameter =
        &pass->model->parameter[pass->layer->first_parameter + tensor(relation, which)];
    return (size_t)parameter->rows * parameter->cols;
}

CPU_KERNEL(add_scaled_tensor,
           (float *restrict sum, const float *restrict x, float scale, size_t count),
           (sum, x, scale, count))
{
    vector_add_scaled(sum, x, scale, count);
}

/* Adds share * the tensor `which` of the relation to sum. */
static void add_tensor(const struct typed_pass *pass, uint32_t relation, int which, float share,
                       float *sum)
{
    add_scaled_tensor(sum, typed_parameter(pass, tensor(relation, which)), share,
                      tensor_size(pass, relation, which));
}

/* Reserves the own matrix [output_dim, columns] and bias of a type that some relation leads to;
 * sets NULL for other types. */
static enum error_code own_room(const struct typed_pass *pass, uint32_t type, struct arena *arena,
                                float **root, float **bias, struct error *err)
{
    const size_t dim = pass->layer->config.output_dim,
                 size = dim * pass->layer->type_input_dim[type];
    bool is_target = false;
    *root = *bias = NULL;
    for (uint32_t r = 0; r < pass->schema->relation_count; r++)
        is_target |= pass->schema->relation[r].target_type == type;
    if (!is_target)
        return ERROR_NONE;
    enum error_code rc = arena_new(arena, root, size, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, bias, dim, what, err);
    if (rc != ERROR_NONE || arena->counts)
        return rc;
    for (size_t i = 0; i < size; i++)
        (*root)[i] = 0;
    for (size_t i = 0; i < dim; i++)
        (*bias)[i] = 0;
    return ERROR_NONE;
}

static enum error_code make_own(const struct typed_pass *pass, struct relation_sums *sums,
                                uint32_t type, struct arena *arena, struct error *err)
{
    const float share = typed_pass_share(pass, type);
    float *root = NULL, *bias = NULL;
    const enum error_code rc = own_room(pass, type, arena, &root, &bias, err);
    sums->root[type] = root;
    sums->bias[type] = bias;
    if (rc != ERROR_NONE || arena->counts)
        return rc;
    for (uint32_t r = 0; r < pass->schema->relation_count; r++)
        if (pass->schema->relation[r].target_type == type) {
            add_tensor(pass, r, OWN_WEIGHT, share, root);
            add_tensor(pass, r, BIAS, share, bias);
        }
    return ERROR_NONE;
}

/* Sets the matrix of a relation: the tensor itself, or, if the relations are averaged, its share of
 * the mean, in the arena. */
static enum error_code make_weight(const struct typed_pass *pass, struct relation_sums *sums,
                                   uint32_t relation, struct arena *arena, struct error *err)
{
    const float share = typed_pass_share(pass, pass->schema->relation[relation].target_type);
    const size_t size = tensor_size(pass, relation, NEIGHBOR_WEIGHT);
    float *scaled = NULL;
    if (pass->model->config.types.relation_aggr == RELATION_AGGR_SUM) {
        sums->weight[relation] = typed_parameter(pass, tensor(relation, NEIGHBOR_WEIGHT));
        return ERROR_NONE;
    }
    const enum error_code rc = arena_new(arena, &scaled, size, what, err);
    sums->weight[relation] = scaled;
    if (rc != ERROR_NONE || arena->counts)
        return rc;
    for (size_t i = 0; i < size; i++)
        scaled[i] = 0;
    add_tensor(pass, relation, NEIGHBOR_WEIGHT, share, scaled);
    return ERROR_NONE;
}

static enum error_code forward(struct typed_pass *pass, bool keep,
                               const struct model_workspace *workspace, struct error *err)
{
    struct relation_sums *sums = NULL;
    enum error_code rc = relation_sums_new(pass, workspace->arena, &sums, err);
    for (uint32_t r = 0; rc == ERROR_NONE && r < pass->schema->relation_count; r++)
        rc = make_weight(pass, sums, r, workspace->arena, err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < pass->schema->type_count; t++)
        rc = make_own(pass, sums, t, workspace->arena, err);
    pass->state = sums;
    return rc == ERROR_NONE ? relation_sums_forward(sums, pass, keep, workspace, err) : rc;
}

/* Computes the gradients of a relation's tensors from those of the matrices made from them. */
static void share_out(const struct typed_pass *pass, const struct relation_sums_gradient *sums,
                      uint32_t relation, float *gradient)
{
    const uint32_t type = pass->schema->relation[relation].target_type;
    const float share = typed_pass_share(pass, type);
    const float *made[COUNT] = {[BIAS] = sums->bias[type], [OWN_WEIGHT] = sums->root[type]};
    float *weight = sums->weight[relation];
    for (int i = BIAS; i <= OWN_WEIGHT; i++)
        add_scaled_tensor(typed_gradient(pass, gradient, tensor(relation, i)), made[i], share,
                          tensor_size(pass, relation, i));
    for (size_t i = 0; share < 1 && i < tensor_size(pass, relation, NEIGHBOR_WEIGHT); i++)
        weight[i] *= share;
}

static enum error_code backward(struct typed_pass *pass, float *const *output_gradient,
                                const struct model_workspace *workspace, float *gradient,
                                struct error *err)
{
    struct arena *arena = workspace->arena;
    struct relation_sums_gradient out;
    enum error_code rc = relation_sums_gradient_new(pass, arena, &out, err);
    for (uint32_t r = 0; rc == ERROR_NONE && r < pass->schema->relation_count; r++)
        out.weight[r] = typed_gradient(pass, gradient, tensor(r, NEIGHBOR_WEIGHT));
    for (uint32_t t = 0; rc == ERROR_NONE && t < pass->schema->type_count; t++)
        rc = own_room(pass, t, arena, &out.root[t], &out.bias[t], err);
    if (rc == ERROR_NONE)
        rc = relation_sums_backward(pass->state, pass, output_gradient, &out, workspace, err);
    if (rc != ERROR_NONE || arena->counts)
        return rc;
    for (uint32_t r = 0; r < pass->schema->relation_count; r++)
        share_out(pass, &out, r, gradient);
    return ERROR_NONE;
}

const struct typed_kind neighbor_relations = {.wants_target_rows = true,
                                              .sums = true,
                                              .parameters = parameters,
                                              .forward = forward,
                                              .backward = backward};
