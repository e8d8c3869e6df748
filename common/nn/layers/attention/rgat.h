/*
 * rgat - the parts of relational graph attention (rgat_layer.c).
 *
 *   p_j = W_r x_j                        rows of the sources of relation r, [heads, channels]
 *   s_k = leaky(u_r . x_j + v_r . x_i)   in each head, of an edge k from j to i (edge_score.h)
 *   w   = softmax of s over the edges of i of all relations; some are dropped in training
 *   y_i = sum over r and k of w_k p_j + b
 *
 * Heads stand side by side, or in the last layer y is their mean. rgat_layer.c computes the
 * matrices W and the vectors u and v from the tensors; rgat_rows.c does the rest. The rows of all
 * types have one width. A destination has no slot of its own.
 */
#ifndef COMMON_NN_LAYERS_ATTENTION_RGAT_H
#define COMMON_NN_LAYERS_ATTENTION_RGAT_H

#include "common/nn/layers/attention/relation_attention.h"
#include "common/nn/typed/relation_matrices.h"
#include "common/nn/typed/row_product.h"

struct rgat_relation {
    float *source_vector, *target_vector;     /* u, v [heads, columns] */
    struct row_product *source, *source_term; /* p [sources, width], u . x [sources, heads] */
    struct row_product *target_term;          /* v . x [rows, heads] */
    /* Sums of w p [rows, width], and their rows [rows, output_dim]: the same array if heads stand
     * side by side. */
    float *sum, *rows;
};

struct rgat {
    struct relation_matrices matrices;
    struct relation_attention *attention;
    struct rgat_relation **relation; /* [relations]; NULL without edges */
};

/* Gradients of the outputs of a relation's products, and of u and v. */
struct rgat_back {
    float *source, *source_term, *target_term; /* [sources, width], [.., heads], [rows, heads] */
    float *source_vector, *target_vector;
};

/* Reserves room for the products of a relation, whose matrix and vectors are set. */
MUST_CHECK enum error_code rgat_rows_new(const struct typed_pass *pass, uint32_t relation,
                                         const struct rgat *rgat, struct arena *arena,
                                         struct error *err);
/* Computes the output of all types; `bias` [output_dim]. `keep`: keeps the values that backward
 * needs. */
MUST_CHECK enum error_code rgat_rows_forward(const struct rgat *rgat, const struct typed_pass *pass,
                                             const float *bias, bool keep,
                                             const struct model_workspace *workspace,
                                             struct error *err);
/* Writes the gradients of W into `matrices`, and reserves room for the gradients of u and v in back
 * [relations] and writes them; skips a relation without edges. Adds to the gradient of the bias. */
MUST_CHECK enum error_code
rgat_rows_backward(const struct rgat *rgat, const struct typed_pass *pass,
                   float *const *output_gradient, const struct relation_matrices *matrices,
                   struct rgat_back *back, float *bias_gradient,
                   const struct model_workspace *workspace, struct error *err);

#endif
