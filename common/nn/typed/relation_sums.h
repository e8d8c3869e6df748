/*
 * relation_sums - the typed layers that are linear in the rows of each relation: R-GCN, and SAGE or
 * GraphConv by relation.
 *
 *   y_i = sum over the relations r to the type t of i of a_ri W_r^T  + x_i R_t^T + b_t
 *   a_ri = the aggregation of the sources that are neighbours of i in r   (operators/aggregation.h)
 *
 * Forward runs over tiles of destinations. It projects a tile's own rows. Then for each relation in
 * turn it aggregates and projects the rows that have edges and adds them to their destinations.
 * ReLU and dropout, if they follow the layer, are computed while a tile is in cache; in bf16 the
 * tile is then rounded. Backward runs relation by relation over the same rows,
 *
 *   dW_r = sum of dy_i^T a_ri,   da_ri = dy_i W_r,   dR_t = dy^T x,   db_t = sum of dy
 *
 * with the sums of partial_sums.h (a type whose projection is folded has the columns of its
 * unprojected rows). Then it runs over tiles of the sources of each type, which gather the
 * gradients of the relations in turn: dx_j = dy_j R_t + sum over r of the transpose of r's
 * aggregation of da_r.
 */
#ifndef COMMON_NN_TYPED_RELATION_SUMS_H
#define COMMON_NN_TYPED_RELATION_SUMS_H

#include "common/nn/typed/projection_fold.h"
#include "common/nn/typed/typed_layer.h"

/* The kind sets these before forward; arrays in the arena, [relations] or [types]. */
struct relation_sums {
    const float **weight;            /* [relations]: W_r [output_dim, columns of the source type] */
    const float **root;              /* [types]: R_t [output_dim, columns of t]; NULL: none */
    const float **bias;              /* [types]: [output_dim]; NULL: none */
    struct aggregation *aggregation; /* [relations]: of the rows that have edges */
    /* [relations]: a_r [rows, columns of the source type], in the model's precision; NULL if not
     * kept. */
    void **aggregated;
    struct linear_weight *linear; /* [relations + types]: the matrices as operands of products */
    /* Set by relation_sums, not by the kind: [relations + types], the folded matrices of relations
     * and then the own ones; `weight` is NULL if nothing is folded. */
    struct folded_weight *folded;
};

/* The places of the gradients, in the same shapes. Not written if a relation or type has no
 * rows. */
struct relation_sums_gradient {
    float **weight, **root, **bias;
};

/* Reserves room for the arrays, with nothing set. */
MUST_CHECK enum error_code relation_sums_new(const struct typed_pass *pass, struct arena *arena,
                                             struct relation_sums **out, struct error *err);
/* Reserves room for the gradients. */
MUST_CHECK enum error_code relation_sums_gradient_new(const struct typed_pass *pass,
                                                      struct arena *arena,
                                                      struct relation_sums_gradient *out,
                                                      struct error *err);
/* Computes pass->output from the matrices in `sums`. `keep`: keeps the values that backward needs.
 * Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code relation_sums_forward(struct relation_sums *sums,
                                                 const struct typed_pass *pass, bool keep,
                                                 const struct model_workspace *workspace,
                                                 struct error *err);
/* Writes `gradient` and pass->input_gradient from output_gradient [types]: [destinations,
 * output_dim]. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code
relation_sums_backward(const struct relation_sums *sums, const struct typed_pass *pass,
                       float *const *output_gradient, const struct relation_sums_gradient *gradient,
                       const struct model_workspace *workspace, struct error *err);

#endif
