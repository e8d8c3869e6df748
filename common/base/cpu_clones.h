/*
 * cpu_clones - one kernel, compiled for several instruction sets, picked when the program starts.
 *
 * Only for loops whose operations are the same for each element whatever the vector width: no sum is
 * reordered and, as -ffp-contract=off holds everywhere, no multiply-add is fused. Then all clones give
 * the same bits and the choice is about time alone.
 *
 * For static functions of names that no other has: clang 14 calls the one that picks by the name alone, and where
 * other files do not find it.
 *
 * Tests build these loops for one instruction set alone, and run with it on whatever processor has it: CPU_CLONES_PLAIN,
 * CPU_CLONES_AVX2 (tests/CMakeLists.txt). The program that is installed picks by the processor, once.
 *
 * Sanitizers instrument the resolver, which runs before they are ready, so there the plain one is built.
 */
#ifndef COMMON_BASE_CPU_CLONES_H
#define COMMON_BASE_CPU_CLONES_H

#if defined(CPU_CLONES_PLAIN)
#define CPU_CLONES
#elif defined(CPU_CLONES_AVX2)
#define CPU_CLONES __attribute__((target("avx2")))
#endif

#if !defined(CPU_CLONES) && defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define CPU_CLONES
#endif
#endif
#if !defined(CPU_CLONES) && (defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__))
#define CPU_CLONES
#endif

#if !defined(CPU_CLONES) && defined(__x86_64__)
#define CPU_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#elif !defined(CPU_CLONES)
#define CPU_CLONES
#endif

/* For the small loops that kernels are made of: they take on the instruction set of the caller. */
#define CPU_INLINE static inline __attribute__((always_inline))

#endif
