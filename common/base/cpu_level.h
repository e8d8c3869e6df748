/*
 * cpu_level - which vector instructions our kernels use: one choice for the whole process.
 *
 *   plain     any processor
 *   avx2      x86-64-v3: AVX2, FMA, F16C, BMI                  Haswell (2013), Zen
 *   avx512    x86-64-v4: also AVX-512 F, BW, CD, DQ, VL        Skylake-X, Zen 4
 *   bf16      also AVX512_BF16, for products in bf16            Cooper Lake, Sapphire Rapids, Zen 4
 *
 * The first call chooses the highest level that the processor and the system have, unless the environment variable
 * GRAPHMILL_CPU_LEVEL names a lower one. A level never changes while kernels run.
 *
 * A kernel has a form for each level (cpu_kernel.h, or written out where compilers do not find the instructions). All
 * forms of a float kernel give the same bits: no sum is reordered, and what is fused in one form is fused in all
 * (vector_multiply_add() in common/math/vector.h). Tests run every form on every machine that has the instructions.
 *
 * There is no level for AMX: libxsmm 1.17, which makes the products in bf16, does not know it.
 */
#ifndef COMMON_BASE_CPU_LEVEL_H
#define COMMON_BASE_CPU_LEVEL_H

#include "common/base/error.h"

#include <stdatomic.h>

enum cpu_level { CPU_PLAIN, CPU_AVX2, CPU_AVX512, CPU_BF16, CPU_LEVEL_COUNT };

#define CPU_LEVEL_VARIABLE "GRAPHMILL_CPU_LEVEL"

/* Only for cpu_level(): the level, or -1 before there is one. */
extern atomic_int cpu_level_chosen;
enum cpu_level cpu_level_choose(void);

/* The level of this process. */
static inline enum cpu_level cpu_level(void)
{
    const int level = atomic_load_explicit(&cpu_level_chosen, memory_order_relaxed);
    return level >= 0 ? (enum cpu_level)level : cpu_level_choose();
}

/* The highest level of the processor and the system, whatever was chosen. */
enum cpu_level cpu_level_of_host(void);
/* "plain", "avx2", "avx512", "bf16". */
const char *cpu_level_name(enum cpu_level level);
/* For programs to call first. Fails: ERROR_USAGE when the variable names no level, or one that is not here. */
MUST_CHECK enum error_code cpu_level_check(struct error *err);

/* For tests, while no kernel runs: the highest level of the host, but none above `most`. */
void cpu_level_limit(enum cpu_level most);

#if defined(__x86_64__)
#define CPU_LEVEL_X86 1
#define CPU_AVX2_CODE __attribute__((target("avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt")))
#define CPU_AVX512_CODE                                                                            \
    __attribute__((target("avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt,"                                   \
                          "avx512f,avx512bw,avx512cd,avx512dq,avx512vl")))
#else
#define CPU_LEVEL_X86 0
#endif

#endif
