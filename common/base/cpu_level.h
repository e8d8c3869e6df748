/*
 * cpu_level - which vector instructions this processor has.
 *
 * For kernels written out for several instruction sets because compilers do not find the instructions
 * (cpu_clones.h is for all others). The forms of a kernel give the same bits; tests hold them together by
 * lowering the level.
 */
#ifndef COMMON_BASE_CPU_LEVEL_H
#define COMMON_BASE_CPU_LEVEL_H

enum cpu_level { CPU_PLAIN, CPU_AVX2, CPU_AVX512 };

/* The highest level that the processor and cpu_level_limit() allow. */
enum cpu_level cpu_level(void);

/* Test hook: no level above `most` from now on. */
void cpu_level_limit(enum cpu_level most);

#if defined(__x86_64__)
#define CPU_LEVEL_X86   1
#define CPU_AVX2_CODE   __attribute__((target("avx2")))
#define CPU_AVX512_CODE __attribute__((target("avx512f")))
#else
#define CPU_LEVEL_X86 0
#endif

#endif
