/*
 * vector - the loops over one row that kernels consist of.
 *
 * They work element by element, so any vector width gives the same bits (cpu_kernel.h). Rows do not
 * overlap. A product that is added is fused: one rounding instead of two, and one instruction if
 * the processor has it.
 */
#ifndef COMMON_MATH_VECTOR_H
#define COMMON_MATH_VECTOR_H

#include "common/math/bf16.h"
#include "common/numbers/cpu_kernel.h"

#include <stddef.h>

/* Returns a b + c, rounded once. A processor without the instruction computes it in libm, slowly
 * and with the same bits. */
CPU_INLINE float vector_multiply_add(float a, float b, float c)
{
    return __builtin_fmaf(a, b, c);
}

CPU_INLINE void vector_zero(float *restrict y, size_t count)
{
    for (size_t i = 0; i < count; i++)
        y[i] = 0;
}

CPU_INLINE void vector_copy(float *restrict y, const float *restrict x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        y[i] = x[i];
}

CPU_INLINE void vector_add(float *restrict y, const float *restrict x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        y[i] += x[i];
}

/* Does four additions one after another, with y loaded and stored once. */
CPU_INLINE void vector_add_four(float *restrict y, const float *restrict a, const float *restrict b,
                                const float *restrict c, const float *restrict d, size_t count)
{
    for (size_t i = 0; i < count; i++)
        y[i] = (((y[i] + a[i]) + b[i]) + c[i]) + d[i];
}

CPU_INLINE void vector_add_scaled(float *restrict y, const float *restrict x, float scale,
                                  size_t count)
{
    for (size_t i = 0; i < count; i++)
        y[i] = vector_multiply_add(scale, x[i], y[i]);
}

CPU_INLINE void vector_add_bf16(float *restrict y, const bf16 *restrict x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        y[i] += bf16_to_float(x[i]);
}

CPU_INLINE void vector_add_four_bf16(float *restrict y, const bf16 *restrict a,
                                     const bf16 *restrict b, const bf16 *restrict c,
                                     const bf16 *restrict d, size_t count)
{
    for (size_t i = 0; i < count; i++)
        y[i] = (((y[i] + bf16_to_float(a[i])) + bf16_to_float(b[i])) + bf16_to_float(c[i])) +
               bf16_to_float(d[i]);
}

CPU_INLINE void vector_add_scaled_bf16(float *restrict y, const bf16 *restrict x, float scale,
                                       size_t count)
{
    for (size_t i = 0; i < count; i++)
        y[i] = vector_multiply_add(scale, bf16_to_float(x[i]), y[i]);
}

CPU_INLINE void vector_scale(float *restrict y, float scale, size_t count)
{
    for (size_t i = 0; i < count; i++)
        y[i] *= scale;
}

enum { DOT_PARTS = 16 };

/* Put before a loop over DOT_PARTS: if gcc unrolls it first, it becomes scalar code inside other
 * loops. */
#define KEEP_LOOP _Pragma("GCC unroll 1")

/* Adds up DOT_PARTS partial sums by halves: first those half of them apart, then a quarter, and so
 * on. */
CPU_INLINE float vector_sum_of_parts(const float part[DOT_PARTS])
{
    float half[DOT_PARTS / 2], quarter[DOT_PARTS / 4];
    for (size_t k = 0; k < DOT_PARTS / 2; k++)
        half[k] = part[k] + part[k + DOT_PARTS / 2];
    for (size_t k = 0; k < DOT_PARTS / 4; k++)
        quarter[k] = half[k] + half[k + DOT_PARTS / 4];
    return (quarter[0] + quarter[2]) + (quarter[1] + quarter[3]);
}

/* Returns the sum of products. Element i is added to partial sum i % DOT_PARTS, so any vector width
 * adds in the same order. */
CPU_INLINE float vector_dot(const float *restrict x, const float *restrict y, size_t count)
{
    float part[DOT_PARTS] = {0}, whole[DOT_PARTS];
    size_t i = 0;
    for (; count - i >= DOT_PARTS; i += DOT_PARTS) {
        KEEP_LOOP
        for (size_t k = 0; k < DOT_PARTS; k++)
            part[k] = vector_multiply_add(x[i + k], y[i + k], part[k]);
    }
    const uint32_t left = (uint32_t)(count - i);
    KEEP_LOOP
    for (uint32_t k = 0; k < DOT_PARTS; k++)
        whole[k] = k < left ? vector_multiply_add(x[i + k], y[i + k], part[k]) : part[k];
    return vector_sum_of_parts(whole);
}

enum { CACHE_LINE_BYTES = 64 };

/* Prefetches a row long before it is needed, into the second cache, so that the misses do not
 * occupy the first. */
CPU_INLINE void vector_prefetch_far(const void *x, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += CACHE_LINE_BYTES)
        __builtin_prefetch((const char *)x + at, 0, 2);
}

/* Prefetches a row shortly before it is needed. */
CPU_INLINE void vector_prefetch(const void *x, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += CACHE_LINE_BYTES)
        __builtin_prefetch((const char *)x + at, 0, 3);
}

#endif
