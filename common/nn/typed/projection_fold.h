/*
 * projection_fold - folds the projection of a type's rows into the matrices of the layer behind it.
 *
 * If no operation lies between the projection h = P x + b of a type and a layer that is linear in
 * its rows, and the layer's weights for these rows add up to one (means, and a destination's own
 * row), then
 *
 *   W (mean of h_j) = (W P) (mean of x_j) + W b
 *
 * So the unprojected rows are read, averaged and multiplied, and no projected row is ever computed.
 * This saves work because there are far fewer destinations than sources, and nobody needs the
 * gradient of the input rows. With M = W P, c = W b and the gradients of these:
 *
 *   dW = dM P^T + dc b^T,   dP = W^T dM,   db = W^T dc,
 *   each summed over the matrices of the type
 *
 * It pays while averaging the wider rows costs less than projecting all: up to
 * PROJECTION_FOLD_WIDTH times the width.
 */
#ifndef COMMON_NN_TYPED_PROJECTION_FOLD_H
#define COMMON_NN_TYPED_PROJECTION_FOLD_H

#include "common/nn/description/model_description.h"

#include <stdint.h>

enum { PROJECTION_FOLD_WIDTH = 2 };

/* The fold of one type. All arrays are borrowed. */
struct projection_fold {
    const float *matrix;                    /* P [dim, columns] */
    const float *bias;                      /* b [dim] */
    float *matrix_gradient, *bias_gradient; /* gradients that backward adds to */
    uint32_t columns; /* columns of the unprojected rows; 0: the projection is not folded */
    uint32_t dim;     /* columns of the projected rows, which the layer is made for */
};

/* A matrix of the layer and its folded form; in backward with the gradients of the folded form. */
struct folded_weight {
    const float *weight; /* W [rows, dim]; NULL: there is none */
    float *matrix;       /* M [rows, columns] */
    float *constant;     /* c [rows] */
};

/* Finds the types whose projections the first layer folds on a block with the edges of `block`:
 * fold [types], with columns 0 if it does not. `value`: of the whole model; NULL if only the widths
 * are needed. The result is the same in training and evaluation. */
void projection_fold_find(const struct model *model, const float *value,
                          const struct relation_block *block, struct projection_fold *fold);
/* Computes M and c from W. */
void projection_fold_make(const struct projection_fold *fold, const struct folded_weight *weight,
                          uint32_t rows);
/* Computes dW into out [rows, dim] from dM and dc, which lie in `gradient`. */
void projection_fold_back(const struct projection_fold *fold, const struct folded_weight *gradient,
                          uint32_t rows, float *out);
/* Adds the part of one matrix to row `row` of dP and to element `row` of db. */
void projection_fold_add(const struct projection_fold *fold, const struct folded_weight *gradient,
                         uint32_t rows, uint32_t row);

#endif
