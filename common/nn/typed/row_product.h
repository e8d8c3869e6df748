/*
 * row_product - one matrix applied to each row inside a typed layer, y = x W^T + b: a layer of kind
 * mlp run by layer_pass.h.
 */
#ifndef COMMON_NN_TYPED_ROW_PRODUCT_H
#define COMMON_NN_TYPED_ROW_PRODUCT_H

#include "common/nn/typed/typed_layer.h"

struct row_product {
    struct model_layer layer;
    struct layer_pass pass;
};

struct row_matrix {     /* borrowed */
    const float *value; /* [output_dim, input_dim] */
    const float *bias;  /* [output_dim]; NULL: none */
    uint32_t input_dim, output_dim;
};

/* Makes a product of count >= 1 rows. Forward writes its rows [count, output_dim] to `output`, or,
 * if that is NULL, to the arena. */
MUST_CHECK enum error_code row_product_new(const struct row_matrix *matrix, uint32_t count,
                                           const struct input_rows *input, float *output,
                                           struct arena *arena, struct row_product **out,
                                           struct error *err);
/* Computes the rows. `keep`: keeps the values that backward needs. */
MUST_CHECK enum error_code row_product_forward(struct row_product *product, bool keep,
                                               const struct model_workspace *workspace,
                                               struct error *err);
/* Computes from dy [count, output_dim] the gradients of matrix and bias (NULL: that of the bias is
 * not wanted), and with wants_input also that of the input, row_product_input_gradient(). */
MUST_CHECK enum error_code row_product_backward(struct row_product *product, const float *dy,
                                                bool wants_input, float *matrix_gradient,
                                                float *bias_gradient,
                                                const struct model_workspace *workspace,
                                                struct error *err);
/* Returns the rows [count, output_dim]. */
static inline float *row_product_rows(const struct row_product *product)
{
    return product->pass.output;
}
/* Returns the gradient of the input [count, input_dim], after a backward pass that wanted it. */
static inline float *row_product_input_gradient(const struct row_product *product)
{
    return product->pass.input_gradient;
}

#endif
