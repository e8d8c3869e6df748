/*
 * projection_fold - the projection of a type's rows, taken into the matrices of the layer behind it.
 *
 * Where nothing lies between the projection h = P x + b of a type and a layer that is linear in its rows, and the
 * layer's weights for them add up to one (means, and a destination's own row), then
 *
 *   W (mean of h_j) = (W P) (mean of x_j) + W b
 *
 * so rows are read, averaged and multiplied as they came in, and no projected row is ever made: of many sources few
 * destinations are left, and nobody wants the gradient of what was given. With M = W P, c = W b and the gradients of these
 *
 *   dW = dM P^T + dc b^T,   dP = W^T dM,   db = W^T dc     each summed over the matrices of the type
 *
 * It pays while averaging the wider rows costs less than projecting all: up to PROJECTION_FOLD_WIDTH times the width.
 */
#ifndef COMMON_NN_TYPED_PROJECTION_FOLD_H
#define COMMON_NN_TYPED_PROJECTION_FOLD_H

#include "common/nn/description/model_description.h"

#include <stdint.h>

enum { PROJECTION_FOLD_WIDTH = 2 };

/* Of one type. Borrowed. */
struct projection_fold {
    const float *matrix;                    /* P [dim, columns] */
    const float *bias;                      /* b [dim] */
    float *matrix_gradient, *bias_gradient; /* what backward adds to */
    uint32_t columns;                       /* of the rows that come in; 0: they are not folded */
    uint32_t dim;                           /* of the rows that the layer is made for */
};

/* A matrix of the layer, and what it becomes; in backward with the gradients of that. */
struct folded_weight {
    const float *weight; /* W [rows, dim]; NULL: there is none */
    float *matrix;       /* M [rows, columns] */
    float *constant;     /* c [rows] */
};

/* Which types' projections the first layer takes in, on a block whose edges are as those of `block`: fold [types], with columns
 * 0 where it does not. `value`: of the whole model; NULL: only the widths are asked for. The same for training and evaluation. */
void projection_fold_find(const struct model *model, const float *value,
                          const struct relation_block *block, struct projection_fold *fold);
/* M and c of W. */
void projection_fold_make(const struct projection_fold *fold, const struct folded_weight *weight,
                          uint32_t rows);
/* From dM and dc, which stand in `gradient`, dW into out [rows, dim]. */
void projection_fold_back(const struct projection_fold *fold, const struct folded_weight *gradient,
                          uint32_t rows, float *out);
/* Row `row` of dP, and element `row` of db: adds what they are by one matrix. */
void projection_fold_add(const struct projection_fold *fold, const struct folded_weight *gradient,
                         uint32_t rows, uint32_t row);

#endif
