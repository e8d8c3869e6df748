/*
 * linear - the three products of a layer, y = x W^T, dW = dy^T x and dx = dy W, in either precision.
 *
 * In bf16 x, W and dy are rounded; y, dW and dx are floats. The sums behind dW and dx may also leave out
 * the zeros of dy (sparse_tile.h): the product of two bf16 is exact in a float, so that is the same
 * arithmetic, in another order.
 */
#ifndef COMMON_NN_OPERATORS_LINEAR_H
#define COMMON_NN_OPERATORS_LINEAR_H

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/math/bf16_product.h"
#include "common/math/matrix.h"

#include <stdbool.h>
#include <stddef.h>

/* The weights [out, in] of a layer in the forms that products want. */
struct linear_weight {
    struct rows_view rows;
    struct bf16_right forward, backward; /* only in bf16 */
};

/* `value` is borrowed, what else is needed lies in the arena. */
MUST_CHECK enum error_code linear_weight_init(struct linear_weight *out, struct matrix_view value,
                                              enum precision precision, struct arena *arena,
                                              struct error *err);

/* y = x W^T for the rows x, into y [x.rows, out]. */
void linear_forward(const struct linear_weight *weight, struct rows_view x, float *y);

/* bf16 of room for one tile of the two below; 0 in floats. */
size_t linear_room(const struct linear_weight *weight, size_t rows);
/* dW = dy^T x, added to when `add`, into dw [out, in]. */
void linear_backward_weight(struct matrix_view dy, struct rows_view x, bool add, float *dw,
                            bf16 *room);
/* dx = dy W into dx [dy.rows, in]. */
void linear_backward_input(const struct linear_weight *weight, struct matrix_view dy, float *dx,
                           bf16 *room);

#endif
