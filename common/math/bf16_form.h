/*
 * bf16_form - operands of products in bf16 in the forms that suit the instruction (bf16_product.h).
 *
 * For c[m, n] = a[m, k] b[k, n] an operand is read in pairs along the depth k:
 *
 *   left  a   rows as they lie (bf16.h), or, for a = rows^T, [m][k]
 *   right b   panels of 64 columns, the last one or two narrower: [n / 64][k / 2][64][2]
 *
 * with zeros up to a depth of a multiple of BF16_DEPTH_UNIT. What is made of a tile's rows is made for the tile's product
 * alone, so it costs as much as the product unless it goes by whole vectors: 32 rows of 16 columns at a time are rounded,
 * paired and transposed in registers.
 */
#ifndef COMMON_MATH_BF16_FORM_H
#define COMMON_MATH_BF16_FORM_H

#include "common/math/bf16.h"

#include <stddef.h>

enum { BF16_DEPTH_UNIT = 32 };

struct bf16_left { /* a [rows, depth]; borrowed */
    const bf16 *value;
    size_t rows, depth;
    size_t stride; /* of rows as they lie; 0: rows^T */
};

struct bf16_right { /* b [depth, cols]; borrowed */
    const bf16 *value;
    size_t depth, cols;
};

/* The depth with its zeros. */
size_t bf16_padded_depth(size_t depth);
/* Columns of the panel at column `at`, zeros included. None is of 16 columns beside another one: for those
 * the library's kernels sum in several chains, as many as suit the number of rows. */
size_t bf16_panel_width(size_t at, size_t cols);

/* a = rows [row_count, depth] as they lie. */
struct bf16_left bf16_left_of_rows(const bf16 *rows, size_t row_count, size_t depth, size_t stride);
/* Elements of room for a = rows^T, rows [row_count, cols]. */
size_t bf16_left_size(size_t row_count, size_t cols);
/* a = rows^T [cols, row_count], rounded, in `room`. */
struct bf16_left bf16_left_of_columns(const float *rows, size_t row_count, size_t cols, bf16 *room);
/* The same some rows at a time: `rows` [count, cols] are those from `first` on, of row_count. `first` is a multiple of
 * BF16_DEPTH_UNIT, and so is `count` unless they are the last. */
void bf16_left_add(const float *rows, size_t first, size_t count, size_t row_count, size_t cols,
                   bf16 *room);

/* Elements of room for b [depth, cols]. */
size_t bf16_right_size(size_t depth, size_t cols);
/* b = rows [row_count, cols]. */
struct bf16_right bf16_right_of_rows(const bf16 *rows, size_t row_count, size_t cols, size_t stride,
                                     bf16 *room);
/* b = rows^T: rows [row_count, depth]. */
struct bf16_right bf16_right_of_columns(const bf16 *rows, size_t row_count, size_t depth,
                                        size_t stride, bf16 *room);

#endif
