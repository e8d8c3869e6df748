/*
 * bf16_product - matrix products of bf16 operands, summed in float, by libxsmm.
 *
 * libxsmm writes a kernel for a shape when the shape is first asked for, with the instruction VDPBF16PS
 * (avx512_bf16): it multiplies a pair of bf16 with a pair and adds both products to a float, and wants operands in the
 * forms of bf16_form.h. A panel of a layer's weights stays in the first or second cache while all rows of a tile pass it.
 * Rows are taken in runs of 128, 64, ... 1, so that however many there are, a layer has eight kernels for them; and sixteen
 * for the depths of tiles of 512 rows.
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

#include "common/math/bf16_form.h"

#include <stdbool.h>
#include <stddef.h>

/* Whether this processor has the instruction, this build the library, and the system lets it write a
 * kernel (it forbids executable memory in some hardened containers). The first call finds out, in
 * milliseconds; by way of it the library starts, and ends with the process. */
bool bf16_product_is_possible(void);
/* What is in the way of it, in a few words; NULL when nothing is. */
const char *bf16_product_hindrance(void);
/* "libxsmm 1.17.0", or "no library". */
const char *bf16_product_version(void);

/* c [a.rows, b.cols] with c_stride floats from row to row: overwritten, or added to when `add`. Depths
 * must agree; nothing overlaps. Only where it is possible. Threads may call at once (1,024 in the life of
 * a process); the first call with a shape allocates, for its kernel. */
void bf16_product(struct bf16_left a, struct bf16_right b, bool add, float *c, size_t c_stride);

#endif
