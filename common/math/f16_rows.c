#include "common/math/f16_rows.h"

#include "common/math/f16.h"
#include "common/numbers/cpu_level.h"

#if CPU_LEVEL_X86
#include <immintrin.h>
#endif

/* Types of values at any address. */
typedef f16 loose_f16 __attribute__((aligned(1)));
typedef float loose_float __attribute__((aligned(1)));

/* Rounds the elements after the last whole vector, or all. */
static void round_f16(loose_f16 *restrict y, const loose_float *restrict x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        y[i] = f16_of_float(x[i]);
}

static void widen_f16(loose_float *restrict y, const loose_f16 *restrict x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        y[i] = f16_to_float(x[i]);
}

#if CPU_LEVEL_X86
enum { AVX2_LANES = 8, AVX512_LANES = 16, TO_NEAREST = _MM_FROUND_TO_NEAREST_INT };

CPU_AVX2_CODE
static size_t round_f16_avx2(loose_f16 *y, const loose_float *x, size_t count)
{
    size_t i = 0;
    for (; count - i >= AVX2_LANES; i += AVX2_LANES)
        _mm_storeu_si128((__m128i *)(void *)(y + i),
                         _mm256_cvtps_ph(_mm256_loadu_ps((const float *)(x + i)), TO_NEAREST));
    return i;
}

CPU_AVX2_CODE
static size_t widen_f16_avx2(loose_float *y, const loose_f16 *x, size_t count)
{
    size_t i = 0;
    for (; count - i >= AVX2_LANES; i += AVX2_LANES)
        _mm256_storeu_ps((float *)(y + i),
                         _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(x + i))));
    return i;
}

CPU_AVX512_CODE
static size_t round_f16_avx512(loose_f16 *y, const loose_float *x, size_t count)
{
    size_t i = 0;
    for (; count - i >= AVX512_LANES; i += AVX512_LANES)
        _mm256_storeu_si256((__m256i *)(void *)(y + i),
                            _mm512_cvtps_ph(_mm512_loadu_ps((const float *)(x + i)), TO_NEAREST));
    return i;
}

CPU_AVX512_CODE
static size_t widen_f16_avx512(loose_float *y, const loose_f16 *x, size_t count)
{
    size_t i = 0;
    for (; count - i >= AVX512_LANES; i += AVX512_LANES)
        _mm512_storeu_ps((float *)(y + i), _mm512_cvtph_ps(_mm256_loadu_si256(
                                               (const __m256i *)(const void *)(x + i))));
    return i;
}
#endif

void f16_rows_round(void *y, const void *x, size_t count)
{
    loose_f16 *to = y;
    const loose_float *from = x;
    size_t done = 0;
#if CPU_LEVEL_X86
    const enum cpu_level level = cpu_level();
    if (level >= CPU_AVX512)
        done = round_f16_avx512(to, from, count);
    else if (level >= CPU_AVX2)
        done = round_f16_avx2(to, from, count);
#endif
    round_f16(to + done, from + done, count - done);
}

void f16_rows_widen(void *y, const void *x, size_t count)
{
    loose_float *to = y;
    const loose_f16 *from = x;
    size_t done = 0;
#if CPU_LEVEL_X86
    const enum cpu_level level = cpu_level();
    if (level >= CPU_AVX512)
        done = widen_f16_avx512(to, from, count);
    else if (level >= CPU_AVX2)
        done = widen_f16_avx2(to, from, count);
#endif
    widen_f16(to + done, from + done, count - done);
}
