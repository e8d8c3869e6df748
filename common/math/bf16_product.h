/*
 * bf16_product - matrix products of bf16 operands, summed in float, by libxsmm.
 *
 * libxsmm writes a kernel for a shape when the shape is first asked for, with the instruction VDPBF16PS
 * (avx512_bf16): it multiplies a pair of bf16 with a pair and adds both products to a float. So an operand
 * is read in pairs along the depth k of c[m, n] = a[m, k] b[k, n], and has a form that suits:
 *
 *   left  a   rows as they lie (bf16.h), or, for a = rows^T, [m][k]
 *   right b   panels of 64 columns, the last one or two narrower: [n / 64][k / 2][64][2]
 *
 * with zeros up to a depth of a multiple of 32. A panel of a layer's weights stays in the first or second
 * cache while all rows of a tile pass it. Rows are taken in runs of 128, 64, ... 1, so that however many
 * there are, a layer has eight kernels for them; and sixteen for the depths of tiles of 512 rows.
 *
 * Which library. Debian has libxsmm 1.17 and oneDNN 2.6, about equally fast on tiles of 512 rows, with
 * packing included (tests/bench/bench_bf16_product.c measures what is here). oneDNN is 40 MB and brings an
 * OpenMP runtime with threads of its own; libxsmm is a static library that uses the caller's thread alone.
 * Debian has it on amd64 only, where the instruction is. It writes machine code at run time: a container
 * that forbids that has no products in bf16.
 *
 * Bits: the same shape and operands give the same bits, whatever the threads. And every element of c is one
 * chain of sums along k, in order, whatever rows and columns there are beside it, if c has more than 16
 * columns; a narrower c has chains in number as its rows suit. The instruction takes subnormal numbers as 0.
 */
#ifndef COMMON_MATH_BF16_PRODUCT_H
#define COMMON_MATH_BF16_PRODUCT_H

#include "common/math/bf16.h"

#include <stdbool.h>
#include <stddef.h>

struct bf16_left { /* a [rows, depth]; borrowed */
    const bf16 *value;
    size_t rows, depth;
    size_t stride; /* of rows as they lie; 0: rows^T */
};

struct bf16_right { /* b [depth, cols]; borrowed */
    const bf16 *value;
    size_t depth, cols;
};

/* Whether this processor has the instruction, this build the library, and the system lets it write a
 * kernel (it forbids executable memory in some hardened containers). The first call finds out, in
 * milliseconds; by way of it the library starts, and ends with the process. */
bool bf16_product_is_possible(void);
/* What is in the way of it, in a few words; NULL when nothing is. */
const char *bf16_product_hindrance(void);
/* "libxsmm 1.17.0", or "no library". */
const char *bf16_product_version(void);

/* a = rows [row_count, depth] as they lie. */
struct bf16_left bf16_left_of_rows(const bf16 *rows, size_t row_count, size_t depth, size_t stride);
/* Elements of room for a = rows^T, rows [row_count, cols]. */
size_t bf16_left_size(size_t row_count, size_t cols);
/* a = rows^T [cols, row_count], rounded, in `room`. Only where products are possible. */
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
 * must agree; nothing overlaps. Only where it is possible. Threads may call at once (1,024 in the life of
 * a process); the first call with a shape allocates, for its kernel. */
void bf16_product(struct bf16_left a, struct bf16_right b, bool add, float *c, size_t c_stride);

#endif
