/*
 * Relational graph attention (Busbridge and others 2019), as in PyG's RGATConv: additive attention
 * over the edges of a node of all relations together.
 *
 *   p_j = x_j W_r                      relation_matrices.h: free, `basis` with `att`, or blocks
 *   s_k = leaky(p_i q + p_j k)         q and k [heads channels, heads]
 *   y_i = sum over the edges of w_k p_j + bias
 *                                      heads side by side, or in the last layer their mean
 *
 * So u_r = k^T W_r^T and v_r = q^T W_r^T in rgat.h. The rows of all types have one width. RGATConv
 * also has tensors w, l1, b1, l2 and b2, which it uses with another `mod`. The table has them too,
 * without a gradient, so that PyG can load a model strictly.
 */
#include "common/math/vector.h"
#include "common/nn/layers/attention/attention.h"
#include "common/nn/layers/attention/rgat.h"
#include "common/nn/operators/first_bounds.h"

static const char what[] = "relational attention"; /* user of the memory, for messages */

/* Tensors behind the matrices. */
enum { QUERY, KEY, BIAS };

static uint32_t width_of(const struct model_layer *layer)
{
    return (uint32_t)layer->config.option.heads * attention_channels(layer);
}

static int tensor(const struct typed_pass *pass, int which)
{
    return relation_matrices_tensors(pass->layer) + which;
}

static enum error_code check(const struct model_config *config, const struct model_layer *layer,
                             struct error *err)
{
    const struct relation_schema *schema = &config->types.schema;
    for (uint32_t t = 1; t < schema->type_count; t++)
        if (layer->type_input_dim[t] != layer->type_input_dim[0])
            return error_set(
                err, ERROR_INVALID,
                "rows of type %s have %u columns and those of %s %u: its matrices want "
                "the same of all; project them",
                schema->type_name[t], layer->type_input_dim[t], schema->type_name[0],
                layer->type_input_dim[0]);
    if (layer->joins_heads && layer->config.output_dim % (uint32_t)layer->config.option.heads)
        return error_set(err, ERROR_INVALID,
                         "the output width is %u, which its %d heads do not divide",
                         layer->config.output_dim, (int)layer->config.option.heads);
    return relation_matrices_check(schema, layer, width_of(layer), err);
}

static void parameters(struct parameter_writer *writer)
{
    const struct model_layer *layer = writer->layer;
    const uint32_t width = width_of(layer), heads = (uint32_t)layer->config.option.heads;
    const uint32_t channels = attention_channels(layer);
    const uint32_t term[] = {width, heads, 0, 0}, bias[] = {layer->config.output_dim, 0, 0, 0};
    const uint32_t row[] = {1, channels, 0, 0}, square[] = {channels, channels, 0, 0};
    const float bound = layer_glorot_bound(width, heads);
    const int k = writer->number;
    relation_matrices_parameters(writer, width, layer->config.option.bases ? "basis" : "weight",
                                 "att");
    parameter_writer_add(writer, 2, term, bound, 0, "convs.%d.q", k);
    parameter_writer_add(writer, 2, term, bound, 0, "convs.%d.k", k);
    parameter_writer_add(writer, 1, bias, 0, 0, "convs.%d.bias", k);
    parameter_writer_add(writer, 1, square, 0, 1, "convs.%d.w", k);
    parameter_writer_add(writer, 2, row, 0, 1, "convs.%d.l1", k);
    parameter_writer_add(writer, 2, row, 0, 0, "convs.%d.b1", k);
    parameter_writer_add(writer, 2, square, 0, 1 / (float)channels, "convs.%d.l2", k);
    parameter_writer_add(writer, 2, row, 0, 0, "convs.%d.b2", k);
}

/* Computes out [heads, dim] = vector^T matrix, with vector [width, heads] and matrix [width,
 * dim]. */
CPU_KERNEL(find_terms,
           (const float *matrix, const float *vector, size_t width, size_t heads, size_t dim,
            float *restrict out),
           (matrix, vector, width, heads, dim, out))
{
    vector_zero(out, heads * dim);
    for (size_t c = 0; c < width; c++)
        for (size_t h = 0; h < heads; h++)
            vector_add_scaled(out + h * dim, matrix + c * dim, vector[c * heads + h], dim);
}

/* The backward pass of find_terms(): adds to both gradients. */
CPU_KERNEL(find_terms_back,
           (const float *matrix, const float *vector, const float *slope, size_t width,
            size_t heads, size_t dim, float *restrict of_matrix, float *restrict of_vector),
           (matrix, vector, slope, width, heads, dim, of_matrix, of_vector))
{
    for (size_t c = 0; c < width; c++)
        for (size_t h = 0; h < heads; h++) {
            vector_add_scaled(of_matrix + c * dim, slope + h * dim, vector[c * heads + h], dim);
            of_vector[c * heads + h] += vector_dot(matrix + c * dim, slope + h * dim, dim);
        }
}

/* Makes the vectors of a relation that has edges, and reserves room for its products. */
static enum error_code new_relation(const struct typed_pass *pass, struct rgat *rgat, uint32_t r,
                                    struct arena *arena, struct error *err)
{
    const size_t heads = (size_t)pass->layer->config.option.heads, width = width_of(pass->layer);
    const size_t dim = rgat->matrices.input;
    struct rgat_relation *made = NULL;
    rgat->relation[r] = NULL;
    if (pass->edges[r].block.destination_count == 0)
        return ERROR_NONE;
    enum error_code rc = arena_new(arena, &made, 1, what, err);
    if (rc != ERROR_NONE)
        return rc;
    rgat->relation[r] = made;
    rc = arena_new(arena, &made->source_vector, heads * dim, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &made->target_vector, heads * dim, what, err);
    if (rc == ERROR_NONE && !arena->counts) {
        find_terms(rgat->matrices.matrix[r], typed_parameter(pass, tensor(pass, KEY)), width, heads,
                   dim, made->source_vector);
        find_terms(rgat->matrices.matrix[r], typed_parameter(pass, tensor(pass, QUERY)), width,
                   heads, dim, made->target_vector);
    }
    return rc == ERROR_NONE ? rgat_rows_new(pass, r, rgat, arena, err) : rc;
}

static enum error_code forward(struct typed_pass *pass, bool keep,
                               const struct model_workspace *workspace, struct error *err)
{
    struct arena *arena = workspace->arena;
    const uint32_t relations = pass->schema->relation_count;
    struct rgat *rgat = NULL;
    enum error_code rc = arena_new(arena, &rgat, 1, what, err);
    if (rc != ERROR_NONE)
        return rc;
    pass->state = rgat;
    rc =
        relation_attention_new(pass, (uint32_t)pass->layer->config.option.heads,
                               attention_channels(pass->layer), true, arena, &rgat->attention, err);
    if (rc == ERROR_NONE)
        rc = relation_matrices_new(pass, width_of(pass->layer), workspace, &rgat->matrices, err);
    if (rc == ERROR_NONE)
        rc = arena_new_bytes(arena, (void **)&rgat->relation, relations, sizeof(void *), what, err);
    if (rc == ERROR_NONE && !arena->counts)
        relation_matrices_make(&rgat->matrices, workspace->pool);
    for (uint32_t r = 0; rc == ERROR_NONE && r < relations; r++)
        rc = new_relation(pass, rgat, r, arena, err);
    return rc == ERROR_NONE
               ? rgat_rows_forward(rgat, pass, typed_parameter(pass, tensor(pass, BIAS)), keep,
                                   workspace, err)
               : rc;
}

static enum error_code backward(struct typed_pass *pass, float *const *output_gradient,
                                const struct model_workspace *workspace, float *gradient,
                                struct error *err)
{
    const struct rgat *rgat = pass->state;
    const size_t heads = (size_t)pass->layer->config.option.heads, width = width_of(pass->layer);
    struct relation_matrices slopes;
    struct rgat_back *back = NULL;
    enum error_code rc =
        relation_matrices_new(pass, width_of(pass->layer), workspace, &slopes, err);
    if (rc == ERROR_NONE)
        rc = arena_new(workspace->arena, &back, pass->schema->relation_count, what, err);
    if (rc == ERROR_NONE)
        rc = rgat_rows_backward(rgat, pass, output_gradient, &slopes, back,
                                typed_gradient(pass, gradient, tensor(pass, BIAS)), workspace, err);
    if (rc != ERROR_NONE || workspace->arena->counts)
        return rc;
    for (uint32_t r = 0; r < pass->schema->relation_count; r++) {
        if (!rgat->relation[r])
            continue;
        find_terms_back(rgat->matrices.matrix[r], typed_parameter(pass, tensor(pass, KEY)),
                        back[r].source_vector, width, heads, slopes.input, slopes.matrix[r],
                        typed_gradient(pass, gradient, tensor(pass, KEY)));
        find_terms_back(rgat->matrices.matrix[r], typed_parameter(pass, tensor(pass, QUERY)),
                        back[r].target_vector, width, heads, slopes.input, slopes.matrix[r],
                        typed_gradient(pass, gradient, tensor(pass, QUERY)));
    }
    relation_matrices_back(&slopes, gradient, workspace->pool);
    return ERROR_NONE;
}

static const struct typed_kind typed = {.wants_target_rows = true,
                                        .parameters = parameters,
                                        .check = check,
                                        .forward = forward,
                                        .backward = backward};

const struct layer_type rgat_layer = {
    .pyg_name = "RGAT",
    .uses_edges = true,
    .has_heads = true,
    .typed = &typed,
    .only_typed = true,
};
