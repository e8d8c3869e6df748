/*
 * bf16 - the upper half of a float: its sign and exponent, and 8 instead of 24 significant bits.
 *
 * A product of two is exact in a float. Rounding is to nearest, ties to even, done on the bits, so that
 * any instruction set gives the same; what rounds past the largest value becomes infinite, and a NaN
 * stays one. Element by element, as in vector.h.
 *
 * Rows of bf16 are kept with an even number of elements from row to row and, when their columns are odd
 * in number, a 0 behind the last: products take them in pairs (bf16_form.h).
 */
#ifndef COMMON_MATH_BF16_H
#define COMMON_MATH_BF16_H

#include "common/base/cpu_kernel.h"

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

/* Elements from row to row for rows of `dim` columns. */
CPU_INLINE size_t bf16_stride(size_t dim)
{
    return dim + dim % 2;
}

#endif
