/*
 * relation_gat - additive attention over all relations to a type: R-GAT (layers/rgat_layer.c).
 *
 *   p_j = W_r x_j                                     rows of the sources of relation r, [heads, channels]
 *   s_k = leaky(u_r . x_j + v_r . x_i)                in each head, of an edge k from j to i; leaky as in edge_score.h
 *   w   = softmax of s over the edges of i of all relations; some are dropped in training
 *   y_i = sum over r and k of w_k p_j + b              heads side by side, or in the last layer their mean
 *
 * The vectors u_r and v_r are what a kind's attention makes of its matrices: no product of destinations is needed. A destination has
 * no slot of its own.
 */
#ifndef COMMON_NN_TYPED_RELATION_GAT_H
#define COMMON_NN_TYPED_RELATION_GAT_H

#include "common/nn/typed/relation_attention.h"
#include "common/nn/typed/row_product.h"

/* Of each relation that has edges; else the arrays hold NULL. */
struct relation_gat_part {
    struct row_product *source, *source_term; /* p [sources, width], u . x [sources, heads] */
    struct row_product *target_term;          /* v . x [rows, heads] */
    uint32_t *row_index; /* [rows]: where the rows' destinations lie, as input_rows names them */
    float *sum,
        *rows; /* sums of w p [rows, width]; [rows, output_dim], the same when heads stand side by side */
};

/* Arrays in the arena, of which the kind fills the matrices before forward. */
struct relation_gat {
    const float **weight;      /* [relations]: W_r [width, columns] */
    const float **source_term; /* [relations]: u_r [heads, columns] */
    const float **target_term; /* [relations]: v_r [heads, columns] */
    const float *bias;         /* [output_dim] */
    struct relation_attention *attention;
    struct relation_gat_part **part; /* [relations] */
};

/* Backward writes here, in the same shapes, and nothing for a relation without edges. To `bias` it adds. */
struct relation_gat_gradient {
    float **weight, **source_term, **target_term, *bias;
};

MUST_CHECK enum error_code relation_gat_new(const struct typed_pass *pass, struct arena *arena,
                                            struct relation_gat **out, struct error *err);
MUST_CHECK enum error_code relation_gat_gradient_new(const struct typed_pass *pass,
                                                     struct arena *arena,
                                                     struct relation_gat_gradient *out,
                                                     struct error *err);
MUST_CHECK enum error_code relation_gat_forward(struct relation_gat *gat,
                                                const struct typed_pass *pass, bool keep,
                                                const struct model_workspace *workspace,
                                                struct error *err);
MUST_CHECK enum error_code
relation_gat_backward(const struct relation_gat *gat, const struct typed_pass *pass,
                      float *const *output_gradient, const struct relation_gat_gradient *gradient,
                      const struct model_workspace *workspace, struct error *err);

#endif
