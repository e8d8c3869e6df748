/*
 * f16 - IEEE 754 binary16: 1 sign, 5 exponent and 10 fraction bits, for stored rows.
 *
 * Rounding is to nearest, ties to even, computed on the bits like the processor's own instruction
 * (F16C): a value that rounds past 65504 becomes infinite, small values become subnormal, and a NaN
 * stays one and becomes quiet. Widening is exact.
 */
#ifndef COMMON_MATH_F16_H
#define COMMON_MATH_F16_H

#include "common/numbers/cpu_kernel.h"

#include <stdint.h>
#include <string.h>

typedef uint16_t f16;

CPU_INLINE uint32_t f16_bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

CPU_INLINE float f16_float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

CPU_INLINE f16 f16_of_float(float x)
{
    const uint32_t bits = f16_bits_of(x), sign = bits >> 16 & 0x8000U, size = bits & 0x7fffffffU;
    /* A subnormal is a multiple of 2^-24: adding 0.5, whose last bit is 2^-24, rounds to such a
     * multiple. */
    const uint32_t small = f16_bits_of(f16_float_of(size) + 0.5F) - f16_bits_of(0.5F);
    /* The exponent is biased by 15 instead of 127; adding 0xfff and the last kept bit rounds. */
    const uint32_t usual = (size - (112U << 23) + 0xfffU + (size >> 13 & 1U)) >> 13;
    const uint32_t nan = 0x7e00U | (size >> 13 & 0x3ffU);
    uint32_t value = usual;
    value = size < 113U << 23 ? small : value;
    /* 65520 and above, half way to 2^16, round to infinity */
    value = size >= 0x477ff000U ? 0x7c00U : value;
    value = size > 0x7f800000U ? nan : value;
    return (f16)(sign | value);
}

CPU_INLINE float f16_to_float(f16 x)
{
    const uint32_t sign = (uint32_t)(x & 0x8000U) << 16, size = (uint32_t)(x & 0x7fffU) << 13;
    /* Multiplying by 2^112 moves the bias from 15 to 127, for subnormals too. */
    uint32_t value = f16_bits_of(f16_float_of(size) * 0x1p112F);
    value = size >= 0x7c00U << 13 ? size | 0x7f800000U : value;
    value = size > 0x7c00U << 13 ? value | 0x00400000U : value;
    return f16_float_of(sign | value);
}

#endif
