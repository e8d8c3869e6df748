#include "common/numbers/cpu_level.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#if CPU_LEVEL_X86
#include <cpuid.h>
#endif

static const char *const names[CPU_LEVEL_COUNT] = {"plain", "avx2", "avx512", "bf16"};

atomic_int cpu_level_chosen = -1;

#if CPU_LEVEL_X86
/* Asks CPUID, because __builtin_cpu_supports() does not know F16C in both of our compilers. A
 * system that supports AVX2 saves the registers that F16C uses. */
static bool has_f16c(void)
{
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(1, &a, &b, &c, &d) && c & bit_F16C;
}
#endif

/* Uses __builtin_cpu_supports(), which asks the system too: registers that the system does not save
 * cannot be used. */
enum cpu_level cpu_level_of_host(void)
{
#if CPU_LEVEL_X86
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
        !__builtin_cpu_supports("bmi") || !__builtin_cpu_supports("bmi2") ||
        !__builtin_cpu_supports("popcnt") || !has_f16c())
        return CPU_PLAIN;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512cd") || !__builtin_cpu_supports("avx512dq") ||
        !__builtin_cpu_supports("avx512vl"))
        return CPU_AVX2;
    return __builtin_cpu_supports("avx512bf16") ? CPU_BF16 : CPU_AVX512;
#else
    return CPU_PLAIN;
#endif
}

const char *cpu_level_name(enum cpu_level level)
{
    return names[level];
}

/* Returns the level called `name`; CPU_LEVEL_COUNT: there is none. */
static enum cpu_level level_of_name(const char *name)
{
    int level = 0;
    while (level < CPU_LEVEL_COUNT && strcmp(names[level], name) != 0)
        level++;
    return (enum cpu_level)level;
}

static enum cpu_level level_wanted(void)
{
    const char *name = getenv(CPU_LEVEL_VARIABLE);
    return name && *name ? level_of_name(name) : CPU_BF16;
}

enum cpu_level cpu_level_choose(void)
{
    cpu_level_limit(level_wanted());
    return (enum cpu_level)atomic_load_explicit(&cpu_level_chosen, memory_order_relaxed);
}

void cpu_level_limit(enum cpu_level most)
{
    const enum cpu_level host = cpu_level_of_host();
    atomic_store_explicit(&cpu_level_chosen, (int)(most < host ? most : host),
                          memory_order_relaxed);
}

enum error_code cpu_level_check(struct error *err)
{
    const char *name = getenv(CPU_LEVEL_VARIABLE);
    const enum cpu_level wanted = level_wanted(), host = cpu_level_of_host();
    if (wanted == CPU_LEVEL_COUNT)
        return error_set(err, ERROR_USAGE,
                         CPU_LEVEL_VARIABLE "=%s: not one of plain, avx2, avx512, bf16", name);
    if (name && *name && wanted > host)
        return error_set(err, ERROR_USAGE,
                         CPU_LEVEL_VARIABLE "=%s: this processor has %s at most; " ADVICE
                                            "unset it, or name "
                                            "that or a lower one",
                         name, names[host]);
    return ERROR_NONE;
}
