/*
 * The relational graph convolution of Schlichtkrull and others (ESWC 2018), as in PyG's RGCNConv:
 *
 *   y_i = sum over the relations r of W_r (mean of x_j over the neighbours j of i in r)
 *         + root x_i + bias
 *
 * or with their sum, or in each column their maximum (neighbor_weights.h). The matrices have one of
 * three forms: free, weight [relations, in, out], x W; made from option.bases bases, W_r = sum over
 * b of comp[r, b] weight[b]; or option.blocks blocks on the diagonal, weight [relations, blocks, in
 * / blocks, out / blocks].
 *
 * With one node type, root and bias are tensors of the layer, as in RGCNConv. With several types,
 * each type has a Linear of its own, roots.<k>.<type>, beside RGCNConv(..., root_weight=False,
 * bias=False). R-GCN on typed graphs in DGL is trained the same way; DGL's RelGraphConv itself has
 * the names W, coeff, loop_weight and h_bias, and only one type.
 */
#include "common/nn/layers/layer.h"
#include "common/nn/operators/first_bounds.h"
#include "common/nn/typed/relation_matrices.h"
#include "common/nn/typed/relation_sums.h"

static const char what[] = "the own matrix"; /* user of the memory, for messages */

static bool has_types(const struct relation_schema *schema)
{
    return schema->type_count > 1;
}

static enum error_code check(const struct model_config *config, const struct model_layer *layer,
                             struct error *err)
{
    return relation_matrices_check(&config->types.schema, layer, layer->config.output_dim, err);
}

static void parameters(struct parameter_writer *writer)
{
    const struct relation_schema *schema = &writer->model->config.types.schema;
    const uint32_t width = writer->layer->config.output_dim,
                   input = writer->layer->type_input_dim[0];
    const uint32_t bias[PARAMETER_DIM_COUNT_MAX] = {width};
    const int k = writer->number;
    relation_matrices_parameters(writer, width, "weight", "comp");
    if (!has_types(schema)) {
        const uint32_t root[] = {input, width, 0, 0};
        parameter_writer_add(writer, 2, root, layer_glorot_bound(input, width), 0, "convs.%d.root",
                             k);
        parameter_writer_add(writer, 1, bias, 0, 0, "convs.%d.bias", k);
        return;
    }
    for (uint32_t t = 0; t < schema->type_count; t++) {
        char key[RELATION_NAME_SIZE + 2];
        const uint32_t dim = writer->layer->type_input_dim[t];
        const uint32_t root[] = {width, dim, 0, 0};
        relation_type_key(schema, t, key);
        parameter_writer_add(writer, 2, root, layer_linear_bound(dim), 0, "roots.%d.%s.weight", k,
                             key);
        parameter_writer_add(writer, 1, bias, layer_linear_bound(dim), 0, "roots.%d.%s.bias", k,
                             key);
    }
}

/* Writes the transpose [cols, rows] of [rows, cols]. */
static void transpose(const float *from, size_t rows, size_t cols, float *to)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < cols; c++)
            to[c * rows + r] = from[r * cols + c];
}

/* Returns the tensor of a type's own matrix; its bias is the next tensor. */
static int root_tensor(const struct typed_pass *pass, uint32_t type)
{
    return relation_matrices_tensors(pass->layer) + 2 * (int)type;
}

/* Makes the transpose of the own matrix of a type. */
static enum error_code new_root(const struct typed_pass *pass, struct arena *arena, float **out,
                                struct error *err)
{
    *out = NULL;
    if (has_types(pass->schema))
        return ERROR_NONE;
    return arena_new(arena, out,
                     (size_t)pass->layer->type_input_dim[0] * pass->layer->config.output_dim, what,
                     err);
}

static enum error_code forward(struct typed_pass *pass, bool keep,
                               const struct model_workspace *workspace, struct error *err)
{
    struct relation_matrices matrices;
    struct relation_sums *sums = NULL;
    const uint32_t width = pass->layer->config.output_dim;
    float *root = NULL;
    enum error_code rc = relation_sums_new(pass, workspace->arena, &sums, err);
    if (rc == ERROR_NONE)
        rc = relation_matrices_new(pass, width, workspace, &matrices, err);
    if (rc == ERROR_NONE)
        rc = new_root(pass, workspace->arena, &root, err);
    if (rc != ERROR_NONE)
        return rc;
    pass->state = sums;
    for (uint32_t r = 0; r < pass->schema->relation_count; r++)
        sums->weight[r] = matrices.matrix[r];
    for (uint32_t t = 0; t < pass->schema->type_count; t++) {
        sums->root[t] = root ? root : typed_parameter(pass, root_tensor(pass, t));
        sums->bias[t] = typed_parameter(pass, root_tensor(pass, t) + 1);
    }
    if (!workspace->arena->counts)
        relation_matrices_make(&matrices, workspace->pool);
    if (!workspace->arena->counts && root)
        transpose(typed_parameter(pass, root_tensor(pass, 0)), pass->layer->type_input_dim[0],
                  width, root);
    return relation_sums_forward(sums, pass, keep, workspace, err);
}

static enum error_code backward(struct typed_pass *pass, float *const *output_gradient,
                                const struct model_workspace *workspace, float *gradient,
                                struct error *err)
{
    struct relation_matrices matrices;
    struct relation_sums_gradient out;
    const uint32_t width = pass->layer->config.output_dim;
    float *root = NULL;
    enum error_code rc = relation_sums_gradient_new(pass, workspace->arena, &out, err);
    if (rc == ERROR_NONE)
        rc = relation_matrices_new(pass, width, workspace, &matrices, err);
    if (rc == ERROR_NONE)
        rc = new_root(pass, workspace->arena, &root, err);
    if (rc != ERROR_NONE)
        return rc;
    for (uint32_t r = 0; r < pass->schema->relation_count; r++)
        out.weight[r] = matrices.matrix[r];
    for (uint32_t t = 0; t < pass->schema->type_count; t++) {
        out.root[t] = root ? root : typed_gradient(pass, gradient, root_tensor(pass, t));
        out.bias[t] = typed_gradient(pass, gradient, root_tensor(pass, t) + 1);
    }
    rc = relation_sums_backward(pass->state, pass, output_gradient, &out, workspace, err);
    if (rc != ERROR_NONE || workspace->arena->counts)
        return rc;
    relation_matrices_back(&matrices, gradient, workspace->pool);
    if (root && pass->destination_count[0])
        transpose(root, width, pass->layer->type_input_dim[0],
                  typed_gradient(pass, gradient, root_tensor(pass, 0)));
    return ERROR_NONE;
}

static const struct typed_kind typed = {.sums = true,
                                        .parameters = parameters,
                                        .check = check,
                                        .forward = forward,
                                        .backward = backward};

const struct layer_type rgcn_layer = {
    .pyg_name = "RGCN",
    .uses_edges = true,
    .aggr = LAYER_AGGR_MEAN,
    .typed = &typed,
    .only_typed = true,
};
