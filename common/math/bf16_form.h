/*
 * bf16_form - operands of bf16 products, in the layouts that the instruction needs
 * (bf16_product.h).
 *
 * For c[m, n] = a[m, k] b[k, n] an operand is read in pairs along the depth k:
 *
 *   left  a   rows in their own layout (bf16.h), or, for a = rows^T, [m][k]
 *   right b   panels of 64 columns, the last one or two narrower: [n / 64][k / 2][64][2]
 *
 * with zeros up to a depth that is a multiple of BF16_DEPTH_UNIT. The operands of a tile are made
 * for the tile's product alone, which would cost as much as the product if it did not use whole
 * vectors: 32 rows of 16 columns at a time are rounded, paired and transposed in registers.
 */
#ifndef COMMON_MATH_BF16_FORM_H
#define COMMON_MATH_BF16_FORM_H

#include "common/math/bf16.h"

#include <stddef.h>

enum { BF16_DEPTH_UNIT = 32 };

struct bf16_left { /* a [rows, depth]; borrowed */
    const bf16 *value;
    size_t rows, depth;
    size_t stride; /* of rows in their own layout; 0: rows^T */
};

struct bf16_right { /* b [depth, cols]; borrowed */
    const bf16 *value;
    size_t depth, cols;
};

/* Returns the depth including its zeros. */
size_t bf16_padded_depth(size_t depth);
/* Returns the columns of the panel at column `at`, including zeros. No panel has 16 columns next to
 * another one, because for 16 columns the library's kernels sum in several chains, whose number
 * depends on the number of rows. */
size_t bf16_panel_width(size_t at, size_t cols);

/* Makes a = rows [row_count, depth], without a copy. */
struct bf16_left bf16_left_of_rows(const bf16 *rows, size_t row_count, size_t depth, size_t stride);
/* Returns the elements of room for a = rows^T, rows [row_count, cols]. */
size_t bf16_left_size(size_t row_count, size_t cols);
/* Makes a = rows^T [cols, row_count], rounded, in `room`. */
struct bf16_left bf16_left_of_columns(const float *rows, size_t row_count, size_t cols, bf16 *room);
/* Does the same for some rows at a time: `rows` [count, cols] are those from `first` on, of
 * row_count. `first` is a multiple of BF16_DEPTH_UNIT, and so is `count` unless they are the
 * last. */
void bf16_left_add(const float *rows, size_t first, size_t count, size_t row_count, size_t cols,
                   bf16 *room);

/* Returns the elements of room for b [depth, cols]. */
size_t bf16_right_size(size_t depth, size_t cols);
/* Makes b = rows [row_count, cols] in `room`. */
struct bf16_right bf16_right_of_rows(const bf16 *rows, size_t row_count, size_t cols, size_t stride,
                                     bf16 *room);
/* Makes b = rows^T, rows [row_count, depth], in `room`. */
struct bf16_right bf16_right_of_columns(const bf16 *rows, size_t row_count, size_t depth,
                                        size_t stride, bf16 *room);

#endif
