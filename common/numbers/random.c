#include "common/numbers/random.h"

#include "common/base/error.h"
#include "common/numbers/cpu_kernel.h"
#include "common/numbers/cpu_level.h"
#include "common/numbers/portable_math.h"

#include <Random123/philox.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>
#if CPU_LEVEL_X86
#include <immintrin.h>
#endif

struct random_stream random_stream_of(uint64_t seed, enum random_purpose purpose, uint32_t round,
                                      uint32_t hop, uint32_t slot)
{
    must(hop < 256 && slot < 65536); /* otherwise two purposes would share their draws */
    return (struct random_stream){
        .seed = seed, .round = round, .purpose_word = (uint32_t)purpose << 24 | hop << 16 | slot};
}

void random_block(const struct random_stream *stream, uint64_t item, uint32_t block,
                  uint32_t out[4])
{
    const philox4x32_key_t key = {{(uint32_t)stream->seed, (uint32_t)(stream->seed >> 32)}};
    const philox4x32_ctr_t counter = {{(uint32_t)item,
                                       (uint32_t)(item >> 32) << 24 | (block & 0xffffffU),
                                       stream->round, stream->purpose_word}};
    const philox4x32_ctr_t drawn = philox4x32(counter, key);
    for (int i = 0; i < 4; i++)
        out[i] = drawn.v[i];
}

/* Philox4x32-10 on RANDOM_LANES counters at once; the library's own function takes one counter at a
 * time. tests/common/numbers/random_test.c compares all forms. A 32 by 32 to 64 bit product is one
 * instruction on every second lane of a vector, but compilers do not find it, so two forms use
 * intrinsics. */
struct lanes {
    uint32_t word[4][RANDOM_LANES];
};

static void philox_plain(struct lanes *lanes, uint32_t key0, uint32_t key1)
{
    uint32_t(*w)[RANDOM_LANES] = lanes->word;
    for (int turn = 0; turn < 10; turn++, key0 += PHILOX_W32_0, key1 += PHILOX_W32_1) {
        for (int i = 0; i < RANDOM_LANES; i++) {
            const uint64_t product0 = (uint64_t)PHILOX_M4x32_0 * w[0][i];
            const uint64_t product1 = (uint64_t)PHILOX_M4x32_1 * w[2][i];
            w[0][i] = (uint32_t)(product1 >> 32) ^ w[1][i] ^ key0;
            w[1][i] = (uint32_t)product1;
            w[2][i] = (uint32_t)(product0 >> 32) ^ w[3][i] ^ key1;
            w[3][i] = (uint32_t)product0;
        }
    }
}

#if CPU_LEVEL_X86

/* Computes low and high halves of the products of the lanes of `x` with `factor`. */
CPU_AVX512_CODE static inline void multiply_avx512(__m512i x, uint32_t factor, __m512i *low,
                                                   __m512i *high)
{
    const __m512i f = _mm512_set1_epi32((int)factor);
    const __m512i even = _mm512_mul_epu32(x, f);
    const __m512i odd = _mm512_mul_epu32(_mm512_srli_epi64(x, 32), f);
    *low = _mm512_mask_blend_epi32(0xaaaa, even, _mm512_slli_epi64(odd, 32));
    *high = _mm512_mask_blend_epi32(0xaaaa, _mm512_srli_epi64(even, 32), odd);
}

CPU_AVX512_CODE static inline void turn_avx512(__m512i w[4], uint32_t key0, uint32_t key1)
{
    __m512i low0, high0, low1, high1;
    multiply_avx512(w[0], PHILOX_M4x32_0, &low0, &high0);
    multiply_avx512(w[2], PHILOX_M4x32_1, &low1, &high1);
    w[0] = _mm512_xor_si512(_mm512_xor_si512(high1, w[1]), _mm512_set1_epi32((int)key0));
    w[1] = low1;
    w[2] = _mm512_xor_si512(_mm512_xor_si512(high0, w[3]), _mm512_set1_epi32((int)key1));
    w[3] = low0;
}

CPU_AVX512_CODE static inline void turns_avx512(__m512i w[4], uint32_t key0, uint32_t key1)
{
    for (int turn = 0; turn < 10; turn++, key0 += PHILOX_W32_0, key1 += PHILOX_W32_1)
        turn_avx512(w, key0, key1);
}

CPU_AVX512_CODE static void philox_avx512(struct lanes *lanes, uint32_t key0, uint32_t key1)
{
    __m512i w[4];
    for (int k = 0; k < 4; k++)
        w[k] = _mm512_loadu_si512(lanes->word[k]);
    turns_avx512(w, key0, key1);
    for (int k = 0; k < 4; k++)
        _mm512_storeu_si512(lanes->word[k], w[k]);
}

CPU_AVX512_CODE static inline void start_avx512(const struct random_stream *stream, __m512i items,
                                                uint32_t block, __m512i w[4])
{
    w[0] = items;
    w[1] = _mm512_set1_epi32((int)(block & 0xffffffU));
    w[2] = _mm512_set1_epi32((int)stream->round);
    w[3] = _mm512_set1_epi32((int)stream->purpose_word);
}

/* Processes two blocks at a time: the instructions of one fill the latencies of the other. */
CPU_AVX512_CODE static void items_avx512(const struct random_stream *stream,
                                         const uint32_t item[RANDOM_LANES], uint32_t block,
                                         uint32_t count, uint32_t (*out)[RANDOM_LANES])
{
    const __m512i items = _mm512_loadu_si512(item);
    for (uint32_t b = 0; b < count; b += 2) {
        uint32_t key0 = (uint32_t)stream->seed, key1 = (uint32_t)(stream->seed >> 32);
        __m512i even[4], odd[4];
        start_avx512(stream, items, block + b, even);
        start_avx512(stream, items, block + b + 1, odd);
        for (int turn = 0; turn < 10; turn++, key0 += PHILOX_W32_0, key1 += PHILOX_W32_1) {
            turn_avx512(even, key0, key1);
            turn_avx512(odd, key0, key1);
        }
        for (uint32_t k = 0; k < 4; k++)
            _mm512_storeu_si512(out[4 * b + k], even[k]);
        for (uint32_t k = 0; k < 4 && b + 1 < count; k++)
            _mm512_storeu_si512(out[4 * b + 4 + k], odd[k]);
    }
}

CPU_AVX2_CODE static inline void multiply_avx2(__m256i x, uint32_t factor, __m256i *low,
                                               __m256i *high)
{
    const __m256i f = _mm256_set1_epi32((int)factor);
    const __m256i even = _mm256_mul_epu32(x, f);
    const __m256i odd = _mm256_mul_epu32(_mm256_srli_epi64(x, 32), f);
    *low = _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xaa);
    *high = _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xaa);
}

CPU_AVX2_CODE static void philox_half_avx2(struct lanes *lanes, int first, uint32_t key0,
                                           uint32_t key1)
{
    __m256i w[4];
    for (int k = 0; k < 4; k++)
        w[k] = _mm256_loadu_si256((const __m256i_u *)(lanes->word[k] + first));
    for (int turn = 0; turn < 10; turn++, key0 += PHILOX_W32_0, key1 += PHILOX_W32_1) {
        __m256i low0, high0, low1, high1;
        multiply_avx2(w[0], PHILOX_M4x32_0, &low0, &high0);
        multiply_avx2(w[2], PHILOX_M4x32_1, &low1, &high1);
        w[0] = _mm256_xor_si256(_mm256_xor_si256(high1, w[1]), _mm256_set1_epi32((int)key0));
        w[1] = low1;
        w[2] = _mm256_xor_si256(_mm256_xor_si256(high0, w[3]), _mm256_set1_epi32((int)key1));
        w[3] = low0;
    }
    for (int k = 0; k < 4; k++)
        _mm256_storeu_si256((__m256i_u *)(lanes->word[k] + first), w[k]);
}

#endif

static void philox_lanes(struct lanes *lanes, uint32_t key0, uint32_t key1)
{
#if CPU_LEVEL_X86
    const enum cpu_level level = cpu_level();
    if (level >= CPU_AVX512) {
        philox_avx512(lanes, key0, key1);
        return;
    }
    if (level == CPU_AVX2) {
        philox_half_avx2(lanes, 0, key0, key1);
        philox_half_avx2(lanes, RANDOM_LANES / 2, key0, key1);
        return;
    }
#endif
    philox_plain(lanes, key0, key1);
}

/* Draws the words of blocks block .. block + RANDOM_LANES - 1. */
static void draw_lanes(const struct random_stream *stream, uint64_t item, uint32_t block,
                       struct lanes *lanes)
{
    for (uint32_t i = 0; i < RANDOM_LANES; i++) {
        lanes->word[0][i] = (uint32_t)item;
        lanes->word[1][i] = (uint32_t)(item >> 32) << 24 | ((block + i) & 0xffffffU);
        lanes->word[2][i] = stream->round;
        lanes->word[3][i] = stream->purpose_word;
    }
    philox_lanes(lanes, (uint32_t)stream->seed, (uint32_t)(stream->seed >> 32));
}

/* Compares a byte of each lane: the borrow of draw - bound says that the draw is below. */
CPU_KERNEL(compare_lanes, (const struct lanes *lanes, uint32_t bound, uint8_t *restrict byte),
           (lanes, bound, byte))
{
    for (int i = 0; i < RANDOM_LANES; i++) {
        uint32_t below = 0;
        for (int k = 0; k < 4; k++) {
            below |= ((lanes->word[k][i] & 0xffffU) - bound) >> 31 << 2 * k;
            below |= ((lanes->word[k][i] >> 16) - bound) >> 31 << (2 * k + 1);
        }
        byte[i] = (uint8_t)~below;
    }
}

#if CPU_LEVEL_X86

/* The same in registers, from the counters on: a comparison of 32 draws gives two bits to each
 * byte. */
CPU_AVX512_CODE static inline void start_lanes_avx512(const struct random_stream *stream,
                                                      uint64_t item, uint32_t block, __m512i w[4])
{
    const __m512i number = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i blocks = _mm512_and_si512(_mm512_add_epi32(number, _mm512_set1_epi32((int)block)),
                                            _mm512_set1_epi32(0xffffff));
    const uint32_t high = (uint32_t)(item >> 32) << 24;
    w[0] = _mm512_set1_epi32((int)(uint32_t)item);
    w[1] = _mm512_or_si512(blocks, _mm512_set1_epi32((int)high));
    w[2] = _mm512_set1_epi32((int)stream->round);
    w[3] = _mm512_set1_epi32((int)stream->purpose_word);
}

CPU_AVX512_CODE static inline void compare_registers_avx512(const __m512i w[4], uint32_t bound,
                                                            uint64_t bits[2])
{
    static const uint64_t place[4] = {0x0303030303030303U, 0x0c0c0c0c0c0c0c0cU, 0x3030303030303030U,
                                      0xc0c0c0c0c0c0c0c0U};
    bits[0] = bits[1] = 0;
    for (int k = 0; k < 4; k++) {
        const uint32_t kept =
            _mm512_cmpge_epu16_mask(w[k], _mm512_set1_epi16((int16_t)(uint16_t)bound));
        bits[0] |= _pdep_u64(kept & 0xffffU, place[k]);
        bits[1] |= _pdep_u64(kept >> 16, place[k]);
    }
}

CPU_AVX512_CODE static void at_least_avx512(const struct random_stream *stream, uint64_t item,
                                            uint32_t block, uint32_t bound, uint64_t bits[2])
{
    __m512i w[4];
    start_lanes_avx512(stream, item, block, w);
    turns_avx512(w, (uint32_t)stream->seed, (uint32_t)(stream->seed >> 32));
    compare_registers_avx512(w, bound, bits);
}

/* Processes two blocks at once, like items_avx512(). */
CPU_AVX512_CODE static void at_least_twice_avx512(const struct random_stream *stream, uint64_t item,
                                                  uint32_t block, uint32_t bound, uint64_t bits[4])
{
    uint32_t key0 = (uint32_t)stream->seed, key1 = (uint32_t)(stream->seed >> 32);
    __m512i first[4], second[4];
    start_lanes_avx512(stream, item, block, first);
    start_lanes_avx512(stream, item, block + RANDOM_LANES, second);
    for (int turn = 0; turn < 10; turn++, key0 += PHILOX_W32_0, key1 += PHILOX_W32_1) {
        turn_avx512(first, key0, key1);
        turn_avx512(second, key0, key1);
    }
    compare_registers_avx512(first, bound, bits);
    compare_registers_avx512(second, bound, bits + 2);
}

#endif

/* Computes the bits of at most 2 RANDOM_LANES blocks. */
static void at_least(const struct random_stream *stream, uint64_t item, uint32_t block,
                     uint32_t count, uint32_t bound, uint64_t bits[4])
{
    struct lanes lanes;
    _Static_assert(RANDOM_LANES == 16, "a byte a lane, in two words");
#if CPU_LEVEL_X86
    if (cpu_level() >= CPU_AVX512) {
        (count > RANDOM_LANES ? at_least_twice_avx512 : at_least_avx512)(stream, item, block, bound,
                                                                         bits);
        return;
    }
#endif
    for (uint32_t done = 0; done < count; done += RANDOM_LANES) {
        draw_lanes(stream, item, block + done, &lanes);
        compare_lanes(&lanes, bound, (uint8_t *)(bits + done / 8));
    }
}

void random_at_least(const struct random_stream *stream, uint64_t item, uint32_t block,
                     uint32_t count, uint32_t bound, uint64_t *bits)
{
    enum { BLOCKS_AT_ONCE = 2 * RANDOM_LANES };
    must(bound < 65536);
    for (uint32_t done = 0; done < count; done += BLOCKS_AT_ONCE) {
        const uint32_t here = count - done < BLOCKS_AT_ONCE ? count - done : BLOCKS_AT_ONCE;
        uint64_t drawn[4];
        at_least(stream, item, block + done, here, bound, drawn);
        for (uint32_t i = 0; 8 * i < here; i++) {
            const uint32_t blocks = here - 8 * i;
            bits[done / 8 + i] = blocks >= 8 ? drawn[i] : drawn[i] & ((1ULL << 8 * blocks) - 1);
        }
    }
}

void random_items(const struct random_stream *stream, const uint32_t item[RANDOM_LANES],
                  uint32_t block, uint32_t count, uint32_t (*out)[RANDOM_LANES])
{
#if CPU_LEVEL_X86
    if (cpu_level() >= CPU_AVX512) {
        items_avx512(stream, item, block, count, out);
        return;
    }
#endif
    for (uint32_t b = 0; b < count; b++) {
        struct lanes lanes;
        for (uint32_t i = 0; i < RANDOM_LANES; i++) {
            lanes.word[0][i] = item[i];
            lanes.word[1][i] = (block + b) & 0xffffffU;
            lanes.word[2][i] = stream->round;
            lanes.word[3][i] = stream->purpose_word;
        }
        philox_lanes(&lanes, (uint32_t)stream->seed, (uint32_t)(stream->seed >> 32));
        memcpy(out + 4 * (size_t)b, lanes.word, sizeof lanes.word);
    }
}

uint32_t random_word(const struct random_stream *stream, uint64_t item, uint32_t draw)
{
    uint32_t words[4];
    random_block(stream, item, draw / 4, words);
    return words[draw % 4];
}

static double unit_double(uint32_t high, uint32_t low)
{
    return (double)((uint64_t)high << 21 | low >> 11) * 0x1p-53;
}

double random_unit_double(const struct random_stream *stream, uint64_t item, uint32_t pair)
{
    uint32_t words[4];
    random_block(stream, item, pair / 2, words);
    return pair % 2 ? unit_double(words[2], words[3]) : unit_double(words[0], words[1]);
}

void random_normal(const struct random_stream *stream, uint64_t item, uint32_t block, float out[4])
{
    uint32_t words[4];
    random_block(stream, item, block, words);
    for (int i = 0; i < 4; i += 2) {
        /* a number in (0, 1] keeps the logarithm finite */
        const double radius = sqrt(-2.0 * portable_log(((double)words[i] + 1.0) * 0x1p-32));
        double sine = 0.0, cosine = 0.0;
        portable_sin_cos((double)words[i + 1] * 0x1p-32, &sine, &cosine);
        out[i] = (float)(radius * cosine);
        out[i + 1] = (float)(radius * sine);
    }
}

uint64_t random_permute(const struct random_stream *stream, uint64_t index, uint64_t count)
{
    if (count <= 1)
        return index;
    unsigned bits = 1;
    while (bits < 64 && (count - 1) >> bits)
        bits++;
    const unsigned low_bits = bits / 2, high_bits = bits - low_bits;
    const uint64_t low_mask = (1ULL << low_bits) - 1, high_mask = (1ULL << high_bits) - 1;
    uint64_t x = index;
    do {
        uint64_t high = x >> low_bits, low = x & low_mask;
        for (uint32_t turn = 0; turn < 6; turn++) {
            uint32_t words[4];
            random_block(stream, turn % 2 ? high : low, turn, words);
            const uint64_t mixed = (uint64_t)words[0] << 32 | words[1];
            if (turn % 2)
                low = (low ^ mixed) & low_mask;
            else
                high = (high ^ mixed) & high_mask;
        }
        x = high << low_bits | low;
    } while (x >= count);
    return x;
}
