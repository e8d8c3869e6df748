#include "common/nn/typed/row_product.h"

static const char what[] = "rows of node types"; /* user of the memory, for messages */

enum error_code row_product_new(const struct row_matrix *matrix, uint32_t count,
                                const struct input_rows *input, float *output, struct arena *arena,
                                struct row_product **out, struct error *err)
{
    const struct message_block every_row = {.destination_count = count, .source_count = count};
    struct row_product *made = NULL;
    enum error_code rc = arena_new(arena, &made, 1, what, err);
    *out = made;
    if (rc != ERROR_NONE)
        return rc;
    made->layer = (struct model_layer){.type = layer_type_of(LAYER_MLP),
                                       .input_dim = matrix->input_dim,
                                       .config.output_dim = matrix->output_dim,
                                       .config.activation = ACTIVATION_NONE};
    rc = layer_pass_init_matrix(&made->pass, &made->layer, matrix->value, matrix->bias, &every_row,
                                input, arena, err);
    made->pass.output = output;
    if (rc == ERROR_NONE && !output)
        rc = arena_new_bytes(arena, &made->pass.output, (size_t)count * matrix->output_dim,
                             sizeof(float), what, err);
    return rc;
}

enum error_code row_product_forward(struct row_product *product, bool keep,
                                    const struct model_workspace *workspace, struct error *err)
{
    return layer_pass_forward(&product->pass, keep, workspace->arena, workspace->pool, err);
}

/* The gradients are written through a struct. NOLINTBEGIN(readability-non-const-parameter) */
enum error_code row_product_backward(struct row_product *product, const float *dy, bool wants_input,
                                     float *matrix_gradient, float *bias_gradient,
                                     const struct model_workspace *workspace, struct error *err)
{
    struct layer_gradient out = {.matrix = {matrix_gradient}, .bias = bias_gradient};
    enum error_code rc = ERROR_NONE;
    if (!bias_gradient)
        rc = arena_new(workspace->arena, &out.bias, product->pass.output_dim, what, err);
    return rc == ERROR_NONE ? layer_pass_backward(&product->pass, NULL, dy, !wants_input, &out,
                                                  workspace->arena, workspace->pool, err)
                            : rc;
}
/* NOLINTEND(readability-non-const-parameter) */
