#include "stages/sampling/rows/distinct_positions.h"

#include "common/numbers/cpu_level.h"

#include <string.h>
#if CPU_LEVEL_X86
#include <immintrin.h>
#endif

size_t distinct_positions_scratch(uint32_t length, uint32_t count)
{
    return count <= DISTINCT_LANES_COUNT_MAX ? 0 : (size_t)length / 64 + 1;
}

/* Returns the number in [0, j] that step i draws. `words` keeps the random words of the four steps
 * that share a block. */
static inline uint32_t draw(const struct random_stream *stream, uint32_t item, uint32_t i,
                            uint32_t j, uint32_t words[4])
{
    if (i % 4 == 0)
        random_block(stream, item, i / 4, words);
    return random_below(words[i % 4], j + 1);
}

static void draw_bits(const struct random_stream *stream, uint32_t item, uint32_t length,
                      uint32_t count, uint64_t *bits)
{
    uint32_t words[4] = {0};
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t j = length - count + i;
        const uint32_t drawn = draw(stream, item, i, j, words);
        const uint32_t taken = bits[drawn / 64] >> (drawn % 64) & 1;
        const uint32_t chosen = taken ? j : drawn;
        bits[chosen / 64] |= 1ULL << (chosen % 64);
    }
}

static void collect_bits(uint64_t *bits, uint32_t length, uint32_t *out)
{
    for (uint32_t word = 0; word <= (length - 1) / 64; word++) {
        for (uint64_t left = bits[word]; left; left &= left - 1)
            *out++ = word * 64 + (uint32_t)__builtin_ctzll(left);
        bits[word] = 0;
    }
}

/* Step i draws a position of [0, last], last = length - count + i. If that position is taken
 * already, the step takes `last`, which is above all positions taken so far. The lists stay
 * ascending: a new position moves up through them. */
static void insert_plain(const uint32_t word[DISTINCT_LANES], const uint32_t last[DISTINCT_LANES],
                         uint32_t i, uint32_t (*out)[DISTINCT_LANES])
{
    uint32_t chosen[DISTINCT_LANES];
    for (int lane = 0; lane < DISTINCT_LANES; lane++) {
        const uint32_t drawn = random_below(word[lane], last[lane] + 1);
        uint32_t taken = 0;
        for (uint32_t k = 0; k < i; k++)
            taken |= out[k][lane] == drawn;
        chosen[lane] = taken ? last[lane] : drawn;
    }
    for (uint32_t k = 0; k < i; k++)
        for (int lane = 0; lane < DISTINCT_LANES; lane++) {
            const uint32_t a = out[k][lane], b = chosen[lane];
            out[k][lane] = a < b ? a : b;
            chosen[lane] = a < b ? b : a;
        }
    memcpy(out[i], chosen, sizeof chosen);
}

static void choose_plain(uint32_t (*word)[DISTINCT_LANES], const uint32_t length[DISTINCT_LANES],
                         uint32_t count, uint32_t (*out)[DISTINCT_LANES])
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t last[DISTINCT_LANES];
        for (int lane = 0; lane < DISTINCT_LANES; lane++)
            last[lane] = length[lane] - count + i;
        insert_plain(word[i], last, i, out);
    }
}

#if CPU_LEVEL_X86

/* These functions do the same with the number of each lane in a vector register. Compilers do not
 * vectorise the loops above. */

/* Computes random_below() in each lane. */
CPU_AVX512_CODE static inline __m512i below_avx512(__m512i word, __m512i bound)
{
    const __m512i even = _mm512_mul_epu32(word, bound);
    const __m512i odd = _mm512_mul_epu32(_mm512_srli_epi64(word, 32), _mm512_srli_epi64(bound, 32));
    return _mm512_mask_blend_epi32(0xaaaa, _mm512_srli_epi64(even, 32), odd);
}

CPU_AVX512_CODE static void choose_avx512(uint32_t (*word)[DISTINCT_LANES],
                                          const uint32_t length[DISTINCT_LANES], uint32_t count,
                                          uint32_t (*out)[DISTINCT_LANES])
{
    const __m512i one = _mm512_set1_epi32(1);
    __m512i last = _mm512_sub_epi32(_mm512_loadu_si512(length), _mm512_set1_epi32((int)count));
    for (uint32_t i = 0; i < count; i++) {
        const __m512i bound = _mm512_add_epi32(last, one);
        const __m512i drawn = below_avx512(_mm512_loadu_si512(word[i]), bound);
        __mmask16 taken = 0;
        for (uint32_t k = 0; k < i; k++)
            taken |= _mm512_cmpeq_epi32_mask(_mm512_loadu_si512(out[k]), drawn);
        __m512i chosen = _mm512_mask_blend_epi32(taken, drawn, last);
        for (uint32_t k = 0; k < i; k++) {
            const __m512i other = _mm512_loadu_si512(out[k]);
            _mm512_storeu_si512(out[k], _mm512_min_epu32(other, chosen));
            chosen = _mm512_max_epu32(other, chosen);
        }
        _mm512_storeu_si512(out[i], chosen);
        last = bound;
    }
}

/* This one keeps the lists in registers, too. Registers cannot be indexed, so its loops are
 * unrolled for FEW entries: usual fan-outs are as short. */
enum { FEW = 16 };

CPU_AVX512_CODE static void choose_few_avx512(uint32_t (*word)[DISTINCT_LANES],
                                              const uint32_t length[DISTINCT_LANES], uint32_t count,
                                              uint32_t (*out)[DISTINCT_LANES])
{
    const __m512i one = _mm512_set1_epi32(1);
    __m512i last = _mm512_sub_epi32(_mm512_loadu_si512(length), _mm512_set1_epi32((int)count));
    __m512i list[FEW] = {{0}};
#pragma GCC unroll 16
    for (uint32_t i = 0; i < FEW; i++) {
        if (i == count)
            break;
        const __m512i bound = _mm512_add_epi32(last, one);
        const __m512i drawn = below_avx512(_mm512_loadu_si512(word[i]), bound);
        __mmask16 taken = 0;
#pragma GCC unroll 16
        for (uint32_t k = 0; k < i; k++)
            taken |= _mm512_cmpeq_epi32_mask(list[k], drawn);
        __m512i chosen = _mm512_mask_blend_epi32(taken, drawn, last);
#pragma GCC unroll 16
        for (uint32_t k = 0; k < i; k++) {
            const __m512i other = list[k];
            list[k] = _mm512_min_epu32(other, chosen);
            chosen = _mm512_max_epu32(other, chosen);
        }
        list[i] = chosen;
        last = bound;
    }
#pragma GCC unroll 16
    for (uint32_t i = 0; i < FEW; i++)
        if (i < count)
            _mm512_storeu_si512(out[i], list[i]);
}

/* Chooses in eight lanes, from `lane` on. */
CPU_AVX2_CODE static void choose_half_avx2(uint32_t (*word)[DISTINCT_LANES], int lane,
                                           const uint32_t *length, uint32_t count,
                                           uint32_t (*out)[DISTINCT_LANES])
{
    const __m256i one = _mm256_set1_epi32(1);
    __m256i last = _mm256_sub_epi32(_mm256_loadu_si256((const __m256i_u *)(length + lane)),
                                    _mm256_set1_epi32((int)count));
    for (uint32_t i = 0; i < count; i++, last = _mm256_add_epi32(last, one)) {
        const __m256i w = _mm256_loadu_si256((const __m256i_u *)(word[i] + lane));
        const __m256i bound = _mm256_add_epi32(last, one);
        const __m256i even = _mm256_mul_epu32(w, bound);
        const __m256i odd =
            _mm256_mul_epu32(_mm256_srli_epi64(w, 32), _mm256_srli_epi64(bound, 32));
        const __m256i drawn = _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xaa);
        __m256i taken = _mm256_setzero_si256();
        for (uint32_t k = 0; k < i; k++) {
            const __m256i other = _mm256_loadu_si256((const __m256i_u *)(out[k] + lane));
            taken = _mm256_or_si256(taken, _mm256_cmpeq_epi32(other, drawn));
        }
        __m256i chosen = _mm256_blendv_epi8(drawn, last, taken);
        for (uint32_t k = 0; k < i; k++) {
            __m256i_u *place = (__m256i_u *)(out[k] + lane);
            const __m256i other = _mm256_loadu_si256(place);
            _mm256_storeu_si256(place, _mm256_min_epu32(other, chosen));
            chosen = _mm256_max_epu32(other, chosen);
        }
        _mm256_storeu_si256((__m256i_u *)(out[i] + lane), chosen);
    }
}

#endif

static void choose(uint32_t (*word)[DISTINCT_LANES], const uint32_t length[DISTINCT_LANES],
                   uint32_t count, uint32_t (*out)[DISTINCT_LANES])
{
#if CPU_LEVEL_X86
    const enum cpu_level level = cpu_level();
    if (level >= CPU_AVX512) {
        (count <= FEW ? choose_few_avx512 : choose_avx512)(word, length, count, out);
        return;
    }
    if (level == CPU_AVX2) {
        choose_half_avx2(word, 0, length, count, out);
        choose_half_avx2(word, DISTINCT_LANES / 2, length, count, out);
        return;
    }
#endif
    choose_plain(word, length, count, out);
}

void distinct_positions_draw_lanes(const struct random_stream *stream,
                                   const uint32_t item[DISTINCT_LANES],
                                   const uint32_t length[DISTINCT_LANES], uint32_t count,
                                   uint32_t (*out)[DISTINCT_LANES])
{
    uint32_t word[DISTINCT_LANES_COUNT_MAX][DISTINCT_LANES];
    random_items(stream, item, 0, (count + 3) / 4, word);
    choose(word, length, count, out);
}

/* Draws one row in the first lane and ignores the others. */
static void draw_list(const struct random_stream *stream, uint32_t item, uint32_t length,
                      uint32_t count, uint32_t *out)
{
    uint32_t list[DISTINCT_LANES_COUNT_MAX][DISTINCT_LANES];
    uint32_t items[DISTINCT_LANES] = {item}, lengths[DISTINCT_LANES];
    for (int lane = 0; lane < DISTINCT_LANES; lane++)
        lengths[lane] = length;
    distinct_positions_draw_lanes(stream, items, lengths, count, list);
    for (uint32_t i = 0; i < count; i++)
        out[i] = list[i][0];
}

void distinct_positions_draw(const struct random_stream *stream, uint32_t item, uint32_t length,
                             uint32_t count, uint64_t *scratch, uint32_t *out)
{
    if (count <= DISTINCT_LANES_COUNT_MAX) {
        draw_list(stream, item, length, count, out);
        return;
    }
    draw_bits(stream, item, length, count, scratch);
    collect_bits(scratch, length, out);
}

void distinct_positions_skip(uint32_t *position, uint32_t count, const uint32_t *excluded,
                             uint32_t excluded_count)
{
    for (uint32_t k = 0, skipped = 0; k < count; k++) {
        while (skipped < excluded_count && excluded[skipped] <= position[k] + skipped)
            skipped++;
        position[k] += skipped;
    }
}
