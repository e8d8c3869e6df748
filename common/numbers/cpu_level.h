/*
 * cpu_level - the vector instructions that our kernels use, chosen once for the whole process.
 *
 *   plain     any processor
 *   avx2      x86-64-v3: AVX2, FMA, F16C, BMI                  Haswell (2013), Zen
 *   avx512    x86-64-v4: also AVX-512 F, BW, CD, DQ, VL        Skylake-X, Zen 4
 *   bf16      also AVX512_BF16, for products in bf16           Cooper Lake, Sapphire Rapids, Zen 4
 *
 * The first call chooses the highest level that the processor and the system support, unless the
 * environment variable GRAPHMILL_CPU_LEVEL names a lower one. The level never changes while kernels
 * run.
 *
 * A kernel has a form for each level (by cpu_kernel.h, or written by hand where compilers do not
 * find the instructions). All forms of a float kernel give the same bits: no sum is reordered, and
 * what is fused in one form is fused in all (vector_multiply_add() in common/math/vector.h). The
 * tests run every form on every machine that has the instructions.
 *
 * There is no level for AMX, because libxsmm 1.17, which computes the products in bf16, does not
 * support it.
 */
#ifndef COMMON_NUMBERS_CPU_LEVEL_H
#define COMMON_NUMBERS_CPU_LEVEL_H

#include "common/base/error.h"

#include <stdatomic.h>

enum cpu_level { CPU_PLAIN, CPU_AVX2, CPU_AVX512, CPU_BF16, CPU_LEVEL_COUNT };

#define CPU_LEVEL_VARIABLE "GRAPHMILL_CPU_LEVEL"

/* Only for cpu_level(): the level, or -1 before it is chosen. */
extern atomic_int cpu_level_chosen;
enum cpu_level cpu_level_choose(void);

/* Returns the level of this process. */
static inline enum cpu_level cpu_level(void)
{
    const int level = atomic_load_explicit(&cpu_level_chosen, memory_order_relaxed);
    return level >= 0 ? (enum cpu_level)level : cpu_level_choose();
}

/* Returns the highest level of the processor and the system, whatever was chosen. */
enum cpu_level cpu_level_of_host(void);
/* Returns "plain", "avx2", "avx512" or "bf16". */
const char *cpu_level_name(enum cpu_level level);
/* Checks the variable; programs call it first. Fails: ERROR_USAGE when the variable names an
 * unknown level, or one that this machine does not support. */
MUST_CHECK enum error_code cpu_level_check(struct error *err);

/* Sets the highest level of the host that is not above `most`. For tests, while no kernel runs. */
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
