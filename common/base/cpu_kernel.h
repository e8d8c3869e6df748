/*
 * cpu_kernel - one loop, compiled for each level of cpu_level.h, picked by a table when it is called.
 *
 *   CPU_KERNEL(add_rows, (float *restrict y, const float *restrict x, size_t count), (y, x, count))
 *   {
 *       for (size_t i = 0; i < count; i++)
 *           y[i] += x[i];
 *   }
 *
 * is `static void add_rows(float *restrict y, const float *restrict x, size_t count)`. CPU_KERNEL_OF() is for functions
 * that return something. A call costs a load and an indirect jump, so a kernel is a range of rows, not an element.
 *
 * Only for loops whose operations are the same for each element whatever the vector width: no sum is reordered, and
 * -ffp-contract=off holds everywhere, so a multiply-add is fused only where the code says so. Then all forms give the
 * same bits and the choice is about time alone. What a kernel calls is CPU_INLINE, or stays plain code.
 */
#ifndef COMMON_BASE_CPU_KERNEL_H
#define COMMON_BASE_CPU_KERNEL_H

#include "common/base/cpu_level.h"

/* For the small loops that kernels are made of: they take on the instruction set of the caller. */
#define CPU_INLINE static inline __attribute__((always_inline))

/* Parameters and arguments come in their parentheses. NOLINTBEGIN(bugprone-macro-parentheses) */
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
