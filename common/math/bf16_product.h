/*
 * bf16_product - matrix products of bf16 operands, summed in float, by libxsmm.
 *
 * libxsmm generates a kernel for a shape at the first request, with the instruction VDPBF16PS
 * (avx512_bf16): the instruction multiplies a pair of bf16 with a pair, adds both products to a
 * float, and needs operands in the layouts of bf16_form.h. A panel of a layer's weights stays in
 * the first or second cache while all rows of a tile are multiplied with it. Rows are processed in
 * runs of 128, 64, ... 1, so a layer needs eight kernels for any number of rows, and sixteen for
 * the depths of tiles of 512 rows.
 *
 * Choice of the library. Debian has libxsmm 1.17 and oneDNN 2.6, which are about equally fast on
 * tiles of 512 rows, packing included (measured by tests/bench/bench_bf16_product.c). oneDNN has 40
 * MB and an OpenMP runtime with its own threads; libxsmm is a static library that uses only the
 * caller's thread. Debian has it on amd64 only, the architecture of the instruction. It generates
 * machine code at run time: in a container that forbids that there are no bf16 products.
 *
 * Bits: the same shape and operands give the same bits, for any number of threads. If c has more
 * than 16 columns, every element of c is one chain of sums along k, in order, whatever the other
 * rows and columns are; in a narrower c the number of chains depends on the number of rows. The
 * instruction treats subnormal numbers as 0.
 */
#ifndef COMMON_MATH_BF16_PRODUCT_H
#define COMMON_MATH_BF16_PRODUCT_H

#include "common/math/bf16_form.h"

#include <stdbool.h>
#include <stddef.h>

/* Returns whether this processor has the instruction, this build has the library, and the system
 * lets it generate a kernel (some hardened containers forbid executable memory). The first call
 * takes milliseconds, because it starts the library, which stops with the process. */
bool bf16_product_is_possible(void);
/* Returns in a few words what prevents it; NULL when nothing does. */
const char *bf16_product_hindrance(void);
/* Returns "libxsmm 1.17.0", or "no library". */
const char *bf16_product_version(void);

/* Computes c [a.rows, b.cols] with a stride of c_stride floats: overwritten, or added to when
 * `add`. Depths must agree, and nothing overlaps. Only where it is possible. Threads: any number at
 * once (1,024 in the life of a process). The first call with a shape allocates memory for its
 * kernel. */
void bf16_product(struct bf16_left a, struct bf16_right b, bool add, float *c, size_t c_stride);

#endif
