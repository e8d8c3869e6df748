/* bf16_rows - rounds rows of floats to rows of bf16, and widens them again. */
#ifndef COMMON_MATH_BF16_ROWS_H
#define COMMON_MATH_BF16_ROWS_H

#include "common/math/bf16.h"

#include <stddef.h>

/* Rounds `rows` [row_count, dim] floats, at any address, into `out` [row_count, bf16_stride(dim)];
 * padding after the columns of a row becomes 0. */
void bf16_rows_round(bf16 *out, const void *rows, size_t dim, size_t row_count);
/* Round `count` floats of `x` into bf16 at `y`, and widen them; both at any address. */
void bf16_rows_pack(void *y, const void *x, size_t count);
void bf16_rows_widen(void *y, const void *x, size_t count);

#endif
