/*
 * bf16_product - matrix products of bf16 operands, summed in float, by the processor's own instruction.
 *
 * VDPBF16PS (avx512_bf16) multiplies a pair of bf16 with a pair and adds both products to a float. So an
 * operand is read in pairs along the depth k of c[m, n] = a[m, k] b[k, n], and has a form that suits:
 *
 *   left  a   rows as they lie (bf16.h), or, for a = rows^T, blocks of 8 columns:
 *             [m / 8][k / 2][8][2]
 *   right b   panels of 48 columns, the last one narrower: [n / 48][k / 2][48][2]
 *
 * A kernel keeps 8 rows by 48 columns of c in registers. A panel of a layer's weights (38 KB at most for
 * k = 400) is used by all rows of a tile in turn, and stays near.
 *
 * Why no library. Debian has libxsmm 1.17 and oneDNN 2.6. On a tile of 512 rows all three are equally fast
 * within noise, once the operands have been brought into the forms that each wants (GFLOP/s on a core whose
 * peak is 234, for 200 to 256 and 512 to 256 columns: forward 181 and 205, 179 and 190, here 183 and 213;
 * gradient of the weights from a float gradient 151 and 179, 165 and 178, here 155 and 179). Both write
 * machine code at run time, which a hardened container forbids, and oneDNN brings 40 MB and an OpenMP
 * runtime into every thread.
 *
 * Bits: every element of c is one chain of sums along k, in order, whatever the threads or the shape
 * around it. The instruction takes subnormal numbers as 0.
 */
#ifndef COMMON_MATH_BF16_PRODUCT_H
#define COMMON_MATH_BF16_PRODUCT_H

#include "common/math/bf16.h"

#include <stdbool.h>
#include <stddef.h>

struct bf16_left { /* a [rows, depth]; borrowed */
    const bf16 *value;
    size_t rows, depth;
    size_t stride; /* of rows as they lie; 0: blocks of columns */
};

struct bf16_right { /* b [depth, cols]; borrowed */
    const bf16 *value;
    size_t depth, cols;
};

/* Whether this processor, and the system on it, has the instruction. */
bool bf16_product_is_possible(void);

/* a = rows [row_count, depth] as they lie. */
struct bf16_left bf16_left_of_rows(const bf16 *rows, size_t row_count, size_t depth, size_t stride);
/* Elements of room for a = rows^T, rows [row_count, cols]. */
size_t bf16_left_size(size_t row_count, size_t cols);
/* a = rows^T [cols, row_count], rounded, in `room`. */
struct bf16_left bf16_left_of_columns(const float *rows, size_t row_count, size_t cols, bf16 *room);

/* Elements of room for b [depth, cols]. */
size_t bf16_right_size(size_t depth, size_t cols);
/* b = rows [row_count, cols]. */
struct bf16_right bf16_right_of_rows(const bf16 *rows, size_t row_count, size_t cols, size_t stride,
                                     bf16 *room);
/* b = rows^T: rows [row_count, depth]. */
struct bf16_right bf16_right_of_columns(const bf16 *rows, size_t row_count, size_t depth,
                                        size_t stride, bf16 *room);

/* c [a.rows, b.cols] with c_stride floats from row to row: overwritten, or added to when `add`. Depths
 * must agree; nothing overlaps. Only where it is possible. Any number of threads may call at once. */
void bf16_product(struct bf16_left a, struct bf16_right b, bool add, float *c, size_t c_stride);

#endif
