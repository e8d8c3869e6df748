#include "common/base/cpu_level.h"

#include <stdatomic.h>

/* As cpu_clones.h says, what tests build for one instruction set begins with that. */
#if defined(CPU_CLONES_PLAIN)
static atomic_int limit = CPU_PLAIN;
#elif defined(CPU_CLONES_AVX2)
static atomic_int limit = CPU_AVX2;
#else
static atomic_int limit = CPU_AVX512;
#endif

enum cpu_level cpu_level(void)
{
    const enum cpu_level most = (enum cpu_level)atomic_load_explicit(&limit, memory_order_relaxed);
#if CPU_LEVEL_X86
    if (most >= CPU_AVX512 && __builtin_cpu_supports("avx512f"))
        return CPU_AVX512;
    if (most >= CPU_AVX2 && __builtin_cpu_supports("avx2"))
        return CPU_AVX2;
#endif
    return CPU_PLAIN;
}

void cpu_level_limit(enum cpu_level most)
{
    atomic_store_explicit(&limit, (int)most, memory_order_relaxed);
}
