/*
 * cpu_kernel - compiles one loop for each level of cpu_level.h, and chooses the form by a table at
 * each call.
 *
 *   CPU_KERNEL(add_rows, (float *restrict y, const float *restrict x, size_t count), (y, x, count))
 *   {
 *       for (size_t i = 0; i < count; i++)
 *           y[i] += x[i];
 *   }
 *
 * defines `static void add_rows(float *restrict y, const float *restrict x, size_t count)`.
 * CPU_KERNEL_OF() is for functions that return something. A call costs a load and an indirect jump,
 * so a kernel should process a range of rows, not an element.
 *
 * It is only for loops whose operations on each element do not depend on the vector width: no sum
 * is reordered, and -ffp-contract=off is set everywhere, so a multiply-add is fused only where the
 * code says so. Then all forms give the same bits, and the choice only affects time. A function
 * that a kernel calls is CPU_INLINE, or remains plain code.
 */
#ifndef COMMON_NUMBERS_CPU_KERNEL_H
#define COMMON_NUMBERS_CPU_KERNEL_H

#include "common/numbers/cpu_level.h"

/* Marks the small functions that kernels consist of: they are compiled for the instruction set of
 * the caller. */
#define CPU_INLINE static inline __attribute__((always_inline))

/* Parameters and arguments already have parentheses. NOLINTBEGIN(bugprone-macro-parentheses) */
#if CPU_LEVEL_X86
#define CPU_KERNEL_OF(type, name, parameters, arguments)                                           \
    CPU_INLINE type name##_body parameters;                                                        \
    static type name##_plain parameters                                                            \
    {                                                                                              \
        return name##_body arguments;                                                              \
    }                                                                                              \
    CPU_AVX2_CODE static type name##_avx2 parameters                                               \
    {                                                                                              \
        return name##_body arguments;                                                              \
    }                                                                                              \
    CPU_AVX512_CODE static type name##_avx512 parameters                                           \
    {                                                                                              \
        return name##_body arguments;                                                              \
    }                                                                                              \
    static type name parameters                                                                    \
    {                                                                                              \
        static type(*const form[CPU_LEVEL_COUNT])                                                  \
            parameters = {name##_plain, name##_avx2, name##_avx512, name##_avx512};                \
        return form[cpu_level()] arguments;                                                        \
    }                                                                                              \
    CPU_INLINE type name##_body parameters

#define CPU_KERNEL(name, parameters, arguments)                                                    \
    CPU_INLINE void name##_body parameters;                                                        \
    static void name##_plain parameters                                                            \
    {                                                                                              \
        name##_body arguments;                                                                     \
    }                                                                                              \
    CPU_AVX2_CODE static void name##_avx2 parameters                                               \
    {                                                                                              \
        name##_body arguments;                                                                     \
    }                                                                                              \
    CPU_AVX512_CODE static void name##_avx512 parameters                                           \
    {                                                                                              \
        name##_body arguments;                                                                     \
    }                                                                                              \
    static void name parameters                                                                    \
    {                                                                                              \
        static void(*const form[CPU_LEVEL_COUNT])                                                  \
            parameters = {name##_plain, name##_avx2, name##_avx512, name##_avx512};                \
        form[cpu_level()] arguments;                                                               \
    }                                                                                              \
    CPU_INLINE void name##_body parameters
#else
#define CPU_KERNEL_OF(type, name, parameters, arguments) static type name parameters
#define CPU_KERNEL(name, parameters, arguments)          static void name parameters
#endif
/* NOLINTEND(bugprone-macro-parentheses) */

#endif
