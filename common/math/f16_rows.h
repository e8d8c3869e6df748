/*
 * f16_rows - converts many floats to f16 (f16.h) and back.
 *
 * There are forms for AVX-512, for F16C, and for any processor, with the same bits. Both arrays may
 * be at any address.
 */
#ifndef COMMON_MATH_F16_ROWS_H
#define COMMON_MATH_F16_ROWS_H

#include <stddef.h>

/* Rounds `count` floats of `x` into f16 at `y`. */
void f16_rows_round(void *y, const void *x, size_t count);
/* Widens `count` f16 of `x` into floats at `y`. */
void f16_rows_widen(void *y, const void *x, size_t count);

#endif
