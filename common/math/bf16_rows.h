/* bf16_rows - rows of floats rounded to rows of bf16, and back. */
#ifndef COMMON_MATH_BF16_ROWS_H
#define COMMON_MATH_BF16_ROWS_H

#include "common/math/bf16.h"

#include <stddef.h>

/* `rows` [row_count, dim] floats, at any address, into `out` [row_count, bf16_stride(dim)]; what is beside the
 * columns of a row becomes 0. */
void bf16_rows_round(bf16 *out, const void *rows, size_t dim, size_t row_count);
/* `count` floats of `x` into bf16 at `y`, and back; either at any address. */
void bf16_rows_pack(void *y, const void *x, size_t count);
void bf16_rows_widen(void *y, const void *x, size_t count);

#endif
