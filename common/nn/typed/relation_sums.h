/*
 * relation_sums - the typed layers that are linear in the rows of each relation: R-GCN, and SAGE or GraphConv by relation.
 *
 *   y_i = sum over the relations r to the type t of i of a_ri W_r^T  + x_i R_t^T + b_t
 *   a_ri = what the aggregation of r makes of the sources of r that i hears from   (operators/aggregation.h)
 *
 * Forward goes over tiles of destinations: a tile's own rows are projected, and for each relation in turn the rows that have
 * edges are aggregated, projected, and added where they belong. ReLU and dropout, where they follow the layer, are done
 * while a tile is in cache, and in bf16 it is then rounded. Backward goes relation by relation over those rows,
 *
 *   dW_r = sum of dy_i^T a_ri,   da_ri = dy_i W_r,   dR_t = dy^T x,   db_t = sum of dy
 *
 * (columns of a type whose projection is folded: those of the rows that come in) with the sums of partial_sums.h, and then over tiles of the sources of each type, which gather what the relations in
 * turn say: dx_j = dy_j R_t + sum over r of the transpose of r's aggregation of da_r.
 */
#ifndef COMMON_NN_TYPED_RELATION_SUMS_H
#define COMMON_NN_TYPED_RELATION_SUMS_H

#include "common/nn/typed/projection_fold.h"
#include "common/nn/typed/typed_layer.h"

/* Set by the kind before forward; arrays in the arena, [relations] or [types]. */
struct relation_sums {
    const float **weight;            /* [relations]: W_r [output_dim, columns of the source type] */
    const float **root;              /* [types]: R_t [output_dim, columns of t]; NULL: none */
    const float **bias;              /* [types]: [output_dim]; NULL: none */
    struct aggregation *aggregation; /* [relations]: of its rows that have edges */
    /* [relations]: a_r [rows, columns of the source type], in the model's precision; NULL when not
     * kept. */
    void **aggregated;
    struct linear_weight *linear; /* [relations + types]: the matrices as operands of products */
    /* Not for the kind to set: [relations + types], the matrices of relations and then the own ones, as they are where the
     * pass folds a projection; of others `weight` is NULL. */
    struct folded_weight *folded;
};

/* Where backward writes what it finds: the same shapes. Left alone where a relation or type has no rows. */
struct relation_sums_gradient {
    float **weight, **root, **bias;
};

/* Room for the arrays, with nothing set. */
MUST_CHECK enum error_code relation_sums_new(const struct typed_pass *pass, struct arena *arena,
                                             struct relation_sums **out, struct error *err);
MUST_CHECK enum error_code relation_sums_gradient_new(const struct typed_pass *pass,
                                                      struct arena *arena,
                                                      struct relation_sums_gradient *out,
                                                      struct error *err);
MUST_CHECK enum error_code relation_sums_forward(struct relation_sums *sums,
                                                 const struct typed_pass *pass, bool keep,
                                                 const struct model_workspace *workspace,
                                                 struct error *err);
MUST_CHECK enum error_code
relation_sums_backward(const struct relation_sums *sums, const struct typed_pass *pass,
                       float *const *output_gradient, const struct relation_sums_gradient *gradient,
                       const struct model_workspace *workspace, struct error *err);

#endif
