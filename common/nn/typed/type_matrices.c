#include "common/nn/typed/type_matrices.h"

#include "common/math/vector.h"
#include "common/nn/typed/row_product.h"

static const char what[] = "rows of node types"; /* wants memory */

/* Whether the layer gives the logits, and they are of the target type alone. */
static bool is_of_target(const struct model *model, const struct model_layer *layer)
{
    return layer == &model->layer[model->config.layer_count - 1] && !model->config.types.gives_all;
}

static void parameters(struct parameter_writer *writer)
{
    const struct model_types *types = &writer->model->config.types;
    for (uint32_t t = 0; t < types->schema.type_count; t++) {
        const uint32_t dim = writer->layer->type_input_dim[t];
        const uint32_t weight[] = {writer->layer->config.output_dim, dim, 0, 0};
        const float bound = layer_linear_bound(dim);
        char key[RELATION_NAME_SIZE + 2];
        relation_type_key(&types->schema, t, key);
        if (!is_of_target(writer->model, writer->layer)) {
            parameter_writer_add(writer, 2, weight, bound, 0, "lins.%d.%s.weight", writer->number,
                                 key);
            parameter_writer_add(writer, 1, weight, bound, 0, "lins.%d.%s.bias", writer->number,
                                 key);
        } else if (t == types->target_type) {
            parameter_writer_add(writer, 2, weight, bound, 0, "lin.weight");
            parameter_writer_add(writer, 1, weight, bound, 0, "lin.bias");
        }
    }
}

/* The first of a type's two tensors; -1: it has none. */
static int tensor_of(const struct typed_pass *pass, uint32_t type)
{
    if (!is_of_target(pass->model, pass->layer))
        return 2 * (int)type;
    return type == pass->model->config.types.target_type ? 0 : -1;
}

static void zero_rows(float *rows, size_t count)
{
    for (size_t i = 0; rows && i < count; i++)
        rows[i] = 0;
}

static enum error_code forward(struct typed_pass *pass, bool keep,
                               const struct model_workspace *workspace, struct error *err)
{
    struct row_product **product = NULL;
    const uint32_t width = pass->layer->config.output_dim;
    enum error_code rc = arena_new_bytes(workspace->arena, (void **)&product,
                                         pass->schema->type_count, sizeof(void *), what, err);
    pass->state = product;
    for (uint32_t t = 0; rc == ERROR_NONE && t < pass->schema->type_count; t++) {
        const int tensor = tensor_of(pass, t);
        const uint32_t count = pass->destination_count[t];
        product[t] = NULL;
        if (tensor < 0 && !workspace->arena->counts)
            zero_rows(pass->output[t], (size_t)count * width);
        if (tensor < 0 || count == 0)
            continue;
        rc = row_product_new(
            &(struct row_matrix){typed_parameter(pass, tensor), typed_parameter(pass, tensor + 1),
                                 pass->layer->type_input_dim[t], width},
            count, &pass->input[t], pass->output[t], workspace->arena, &product[t], err);
        if (rc == ERROR_NONE)
            rc = row_product_forward(product[t], keep, workspace, err);
    }
    return rc;
}

static enum error_code backward(struct typed_pass *pass, float *const *output_gradient,
                                const struct model_workspace *workspace, float *gradient,
                                struct error *err)
{
    struct row_product **product = pass->state;
    enum error_code rc = ERROR_NONE;
    for (uint32_t t = 0; rc == ERROR_NONE && t < pass->schema->type_count; t++) {
        const int tensor = tensor_of(pass, t);
        const size_t count = (size_t)pass->source_count[t] * pass->layer->type_input_dim[t];
        float *dx = pass->input_gradient[t];
        if (product[t])
            rc = row_product_backward(product[t], output_gradient[t], dx != NULL,
                                      typed_gradient(pass, gradient, tensor),
                                      typed_gradient(pass, gradient, tensor + 1), workspace, err);
        if (rc != ERROR_NONE || workspace->arena->counts)
            continue;
        if (product[t] && dx)
            vector_copy(dx, row_product_input_gradient(product[t]), count);
        else
            zero_rows(dx, count);
    }
    return rc;
}

const struct typed_kind type_matrices = {
    .parameters = parameters, .forward = forward, .backward = backward};
