/*
 * linear - the three products of a layer, y = x W^T, dW = dy^T x and dx = dy W, in either
 * precision.
 *
 * In bf16 the operands x, W and dy are rounded; y, dW and dx are floats. The sums of dW and dx may
 * skip the zeros of dy (sparse_tile.h). The product of two bf16 is exact in a float, so skipping
 * only changes the order of the sums.
 */
#ifndef COMMON_NN_OPERATORS_LINEAR_H
#define COMMON_NN_OPERATORS_LINEAR_H

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/math/bf16_product.h"
#include "common/math/matrix.h"

#include <stdbool.h>
#include <stddef.h>

/* The weights [out, in] of a layer in the forms that the products need. */
struct linear_weight {
    struct rows_view rows;
    struct bf16_right forward, backward; /* only in bf16 */
};

/* Prepares the forms of `value`, which is borrowed. The arena owns the other forms. */
MUST_CHECK enum error_code linear_weight_init(struct linear_weight *out, struct matrix_view value,
                                              enum precision precision, struct arena *arena,
                                              struct error *err);

/* Computes y = x W^T for the rows x, into y [x.rows, out]. */
void linear_forward(const struct linear_weight *weight, struct rows_view x, float *y);

/* The rows dy [rows, cols] of a tile as an operand of the two backward products. In floats it
 * refers to all rows in place. In bf16 it is built from a few rows at a time, while they are in
 * the first-level cache, and both products use the result. */
struct linear_gradient {
    enum precision precision;
    size_t rows, cols;
    size_t rows_at_once; /* how many rows one call adds: all in floats, a few in bf16 */
    size_t added;        /* rows added so far */
    const float *value;  /* in floats: borrowed */
    bf16 *transposed,
        /* in bf16, in the room; `rounded` is NULL unless the gradient of the input is wanted */
        *rounded;
    bf16 *input_room; /* in bf16, room for the other operand of dW */
};

/* Returns how many bf16 of room a tile of at most `rows` rows needs; 0 in floats. */
size_t linear_room(const struct linear_weight *weight, size_t rows);
/* Begins a gradient of `rows` rows. */
struct linear_gradient linear_gradient_in(const struct linear_weight *weight, size_t rows,
                                          bool wants_input, bf16 *room);
/* Adds the next rows, dy [count, cols]; `count` is rows_at_once, or fewer for the last rows. */
void linear_gradient_add(struct linear_gradient *gradient, const float *dy, size_t count);
/* Computes dW = dy^T x into dw [out, in], or adds it to dw if `add` is set. All rows must have
 * been added to `dy`. */
void linear_backward_weight(const struct linear_gradient *dy, struct rows_view x, bool add,
                            float *dw);
/* Computes dx = dy W into dx [dy.rows, in]. */
void linear_backward_input(const struct linear_weight *weight, const struct linear_gradient *dy,
                           float *dx);

#endif
