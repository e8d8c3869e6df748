/*
 * f16_rows - floats to f16 (f16.h) and back, many at a time.
 *
 * In forms for AVX-512, for F16C, and for any processor, with the same bits. What is on the f16's side may lie at any
 * address, and so may floats.
 */
#ifndef COMMON_MATH_F16_ROWS_H
#define COMMON_MATH_F16_ROWS_H

#include <stddef.h>

/* `count` floats of `x` into f16 at `y`. */
void f16_rows_round(void *y, const void *x, size_t count);
/* `count` f16 of `x` into floats at `y`. */
void f16_rows_widen(void *y, const void *x, size_t count);

#endif
