/*
 * bf16 - the upper half of a float: its sign and exponent, and 8 instead of 24 significant bits.
 *
 * The product of two bf16 is exact in a float. Rounding is to nearest, ties to even, computed on
 * the bits, so every instruction set gives the same result. A value that rounds past the largest
 * becomes infinite, and a NaN stays one. All functions work element by element, as in vector.h.
 *
 * Rows of bf16 have an even stride, and a row with an odd number of columns has a 0 after the last
 * one, because products take the elements in pairs (bf16_form.h).
 */
#ifndef COMMON_MATH_BF16_H
#define COMMON_MATH_BF16_H

#include "common/numbers/cpu_kernel.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint16_t bf16;

CPU_INLINE bf16 bf16_of_float(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    const uint32_t quiet = bits >> 16 | 0x40;
    return (bf16)((bits & 0x7fffffff) > 0x7f800000 ? quiet : rounded);
}

CPU_INLINE float bf16_to_float(bf16 x)
{
    const uint32_t bits = (uint32_t)x << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

CPU_INLINE void bf16_of_floats(bf16 *restrict y, const float *restrict x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        y[i] = bf16_of_float(x[i]);
}

CPU_INLINE void bf16_to_floats(float *restrict y, const bf16 *restrict x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        y[i] = bf16_to_float(x[i]);
}

/* Returns the stride in elements of rows of `dim` columns. */
CPU_INLINE size_t bf16_stride(size_t dim)
{
    return dim + dim % 2;
}

#endif
