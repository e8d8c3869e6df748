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

/* The rows dy [rows, cols] of a tile as an operand of the two products of backward. In floats it is all rows as they lie;
 * in bf16 it is made of a few rows at a time, while they are in the first cache, and stays for both products. */
struct linear_gradient {
    enum precision precision;
    size_t rows, cols;
    size_t rows_at_once; /* to be added at once: all in floats, a few in bf16 */
    size_t added;        /* rows so far */
    const float *value;  /* in floats: borrowed */
    bf16 *transposed,
        *rounded; /* in bf16, in the room; `rounded` is NULL unless the input's gradient is wanted */
    bf16 *input_room; /* in bf16, for the other operand of dW */
};

/* bf16 of room for one tile of at most `rows` rows; 0 in floats. */
size_t linear_room(const struct linear_weight *weight, size_t rows);
/* Begins a gradient of `rows` rows. */
struct linear_gradient linear_gradient_in(const struct linear_weight *weight, size_t rows,
                                          bool wants_input, bf16 *room);
/* Adds the next rows, dy [count, cols]: rows_at_once of them, or what is left. */
void linear_gradient_add(struct linear_gradient *gradient, const float *dy, size_t count);
/* dW = dy^T x, added to when `add`, into dw [out, in]. All rows are there. */
void linear_backward_weight(const struct linear_gradient *dy, struct rows_view x, bool add,
                            float *dw);
/* dx = dy W into dx [dy.rows, in]. */
void linear_backward_input(const struct linear_weight *weight, const struct linear_gradient *dy,
                           float *dx);

#endif
