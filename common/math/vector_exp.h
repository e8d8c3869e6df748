/*
 * vector_exp - computes e^x of many numbers that are not above 0, with the same bits at every level
 * of cpu_level.h.
 *
 * x = n ln 2 + r with |r| <= ln 2 / 2, and e^x = 2^n e^r by a polynomial (that of Cephes' expf),
 * within 2 units in the last place. The result of libm depends on its version, and takes a call for
 * each number. Below -87, near the least normal float, the result is e^-87. A NaN stays one.
 */
#ifndef COMMON_MATH_VECTOR_EXP_H
#define COMMON_MATH_VECTOR_EXP_H

#include "common/math/vector.h"

#include <stdint.h>
#include <string.h>

/* Returns 2^n for a whole n in [-126, 127]. */
CPU_INLINE float vector_exp_power_of_two(float n)
{
    const uint32_t bits = (uint32_t)((int32_t)n + 127) << 23;
    float power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

CPU_INLINE float vector_exp_of(float given)
{
    const float shift =
        12582912.0F; /* 1.5 * 2^23: a number that is added to it is rounded to an integer */
    const float x = given > -87 ? given : -87;
    const float n = vector_multiply_add(x, 1.44269504F, shift) - shift;
    const float r =
        vector_multiply_add(n, 2.12194440e-4F, vector_multiply_add(n, -0.693359375F, x));
    float p = 1.9875691500e-4F;
    p = vector_multiply_add(p, r, 1.3981999507e-3F);
    p = vector_multiply_add(p, r, 8.3334519073e-3F);
    p = vector_multiply_add(p, r, 4.1665795894e-2F);
    p = vector_multiply_add(p, r, 1.6666665459e-1F);
    p = vector_multiply_add(p, r, 5.0000001201e-1F);
    p = vector_multiply_add(p, r * r, r + 1);
    return given == given ? p * vector_exp_power_of_two(n) : given;
}

/* Computes e^x in place; each x is at most 0. */
CPU_INLINE void vector_exp(float *restrict x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        x[i] = vector_exp_of(x[i]);
}

#endif
