/*
 * vector_gelu - computes x Phi(x) of many numbers, with Phi the distribution function of the
 * standard normal: torch.nn.functional.gelu().
 *
 * Phi(x) = (1 + erf(x / sqrt 2)) / 2, and erf by the polynomials of Cephes' erff, within 1e-7 of
 * it. The result of libm depends on its version, and takes a call for each number. A NaN stays one.
 */
#ifndef COMMON_MATH_VECTOR_GELU_H
#define COMMON_MATH_VECTOR_GELU_H

#include "common/math/vector.h"
#include "common/math/vector_exp.h"

/* Evaluates a polynomial; the factors are in the order of falling powers. */
CPU_INLINE float vector_gelu_polynomial(const float *factor, int count, float x)
{
    float sum = factor[0];
    for (int i = 1; i < count; i++)
        sum = vector_multiply_add(sum, x, factor[i]);
    return sum;
}

/* Returns Phi(x), given exp(- x^2 / 2). */
CPU_INLINE float vector_gelu_phi(float x, float bell)
{
    static const float below_one[] = {7.853861353153693e-5F, -8.010193625184903e-4F,
                                      5.188327685732524e-3F, -2.685381193529856e-2F,
                                      1.128358514861418e-1F, -3.761262582423300e-1F,
                                      1.128379165726710e+0F};
    static const float below_two[] = {
        2.326819970068386e-2F,  -1.387039388740657e-1F, 3.687424674597105e-1F,
        -5.824733027278666e-1F, 6.210004621745983e-1F,  -4.944515323274145e-1F,
        3.404879937665872e-1F,  -2.741127028184656e-1F, 5.638259427386472e-1F};
    static const float above[] = {-1.047766399936249e+1F, 1.297719955372516e+1F,
                                  -7.495518717768503e+0F, 2.921019019210786e+0F,
                                  -1.015265279202700e+0F, 4.218463358204948e-1F,
                                  -2.820767439740514e-1F, 5.641895067754075e-1F};
    const float z = x * 0.70710678118654752F, size = z < 0 ? -z : z;
    if (!(size >= 1)) /* true for NaN too */
        return 0.5F + 0.5F * z * vector_gelu_polynomial(below_one, 7, z * z);
    const float inverse = 1 / size, square = inverse * inverse;
    const float rest = bell * inverse *
                       (size < 2 ? vector_gelu_polynomial(below_two, 9, square)
                                 : vector_gelu_polynomial(above, 8, square));
    return z < 0 ? 0.5F * rest : 1 - 0.5F * rest;
}

CPU_INLINE float vector_gelu_bell(float x)
{
    return vector_exp_of(-0.5F * x * x);
}

/* Computes y = x Phi(x). */
CPU_INLINE void vector_gelu(const float *x, float *y, size_t count)
{
    for (size_t i = 0; i < count; i++)
        y[i] = x[i] * vector_gelu_phi(x[i], vector_gelu_bell(x[i]));
}

/* Computes gradient *= Phi(x) + x exp(- x^2 / 2) / sqrt(2 pi). */
CPU_INLINE void vector_gelu_backward(const float *x, float *gradient, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const float bell = vector_gelu_bell(x[i]);
        gradient[i] *= vector_gelu_phi(x[i], bell) + x[i] * bell * 0.39894228040143268F;
    }
}

#endif
