#include "common/base/random.h"

#include "common/base/cpu_clones.h"

#include <Random123/philox.h>
#include <math.h>
#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

struct random_stream random_stream_of(uint64_t seed, enum random_purpose purpose, uint32_t round,
                                      uint32_t hop, uint32_t slot)
{
    return (struct random_stream){.seed = seed,
                                  .round = round,
                                  .purpose_word = (uint32_t)purpose << 24 | (hop & 0xffU) << 16 |
                                                  (slot & 0xffffU)};
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

/* Philox4x32-10 on LANES counters side by side; the library's own is one counter at a time.
 * tests/common/base/random_test.c holds the two together. */
enum { LANES = 16 };

struct lanes {
    uint32_t word[4][LANES];
};

/* Words lie in lanes of 64 bits, of which the upper half is never looked at, so that a product is at once
 * where the next turn wants its halves. */
CPU_CLONES
static void philox_portable(struct lanes *lanes, uint32_t key0, uint32_t key1)
{
    uint64_t w[4][LANES];
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < LANES; i++)
            w[k][i] = lanes->word[k][i];
    for (int turn = 0; turn < 10; turn++, key0 += PHILOX_W32_0, key1 += PHILOX_W32_1) {
        for (int i = 0; i < LANES; i++) {
            const uint64_t product0 = (uint64_t)PHILOX_M4x32_0 * (uint32_t)w[0][i];
            const uint64_t product1 = (uint64_t)PHILOX_M4x32_1 * (uint32_t)w[2][i];
            w[0][i] = (product1 >> 32) ^ w[1][i] ^ key0;
            w[1][i] = product1;
            w[2][i] = (product0 >> 32) ^ w[3][i] ^ key1;
            w[3][i] = product0;
        }
    }
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < LANES; i++)
            lanes->word[k][i] = (uint32_t)w[k][i];
}

#ifdef __x86_64__
/* The same by hand, eight counters to a vector: gcc does not see that the upper halves of the factors do not
 * matter, and takes three times as long. */
__attribute__((target("avx512f"))) static void philox_avx512(struct lanes *lanes, uint32_t key0,
                                                             uint32_t key1)
{
    const __m512i factor0 = _mm512_set1_epi64(PHILOX_M4x32_0);
    const __m512i factor1 = _mm512_set1_epi64(PHILOX_M4x32_1);
    __m512i w[4][2];
    for (int k = 0; k < 4; k++)
        for (int h = 0; h < 2; h++)
            w[k][h] = _mm512_cvtepu32_epi64(
                _mm256_loadu_si256((const __m256i *)(const void *)&lanes->word[k][8 * h]));
    for (int turn = 0; turn < 10; turn++, key0 += PHILOX_W32_0, key1 += PHILOX_W32_1)
        for (int h = 0; h < 2; h++) {
            const __m512i product0 = _mm512_mul_epu32(factor0, w[0][h]);
            const __m512i product1 = _mm512_mul_epu32(factor1, w[2][h]);
            const __m512i mixed0 = _mm512_xor_si512(w[1][h], _mm512_set1_epi64(key0));
            const __m512i mixed1 = _mm512_xor_si512(w[3][h], _mm512_set1_epi64(key1));
            w[0][h] = _mm512_xor_si512(_mm512_srli_epi64(product1, 32), mixed0);
            w[1][h] = product1;
            w[2][h] = _mm512_xor_si512(_mm512_srli_epi64(product0, 32), mixed1);
            w[3][h] = product0;
        }
    for (int k = 0; k < 4; k++)
        for (int h = 0; h < 2; h++)
            _mm256_storeu_si256((__m256i *)(void *)&lanes->word[k][8 * h],
                                _mm512_cvtepi64_epi32(w[k][h]));
}
#endif

static void philox_lanes(struct lanes *lanes, uint32_t key0, uint32_t key1)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f")) {
        philox_avx512(lanes, key0, key1);
        return;
    }
#endif
    philox_portable(lanes, key0, key1);
}

/* The words of blocks block .. block + LANES - 1. */
static void draw_lanes(const struct random_stream *stream, uint64_t item, uint32_t block,
                       struct lanes *lanes)
{
    for (uint32_t i = 0; i < LANES; i++) {
        lanes->word[0][i] = (uint32_t)item;
        lanes->word[1][i] = (uint32_t)(item >> 32) << 24 | ((block + i) & 0xffffffU);
        lanes->word[2][i] = stream->round;
        lanes->word[3][i] = stream->purpose_word;
    }
    philox_lanes(lanes, (uint32_t)stream->seed, (uint32_t)(stream->seed >> 32));
}

void random_blocks(const struct random_stream *stream, uint64_t item, uint32_t block,
                   uint32_t count, uint32_t *out)
{
    struct lanes lanes;
    for (uint32_t done = 0; done < count; done += LANES) {
        draw_lanes(stream, item, block + done, &lanes);
        for (uint32_t i = 0; i < LANES && done + i < count; i++)
            for (uint32_t k = 0; k < 4; k++)
                *out++ = lanes.word[k][i];
    }
}

/* A byte of each lane: the borrow of draw - bound says that the draw is below. */
CPU_CLONES
static void compare_lanes(const struct lanes *lanes, uint32_t bound, uint8_t *restrict byte)
{
    for (int i = 0; i < LANES; i++) {
        uint32_t below = 0;
        for (int k = 0; k < 4; k++) {
            below |= ((lanes->word[k][i] & 0xffffU) - bound) >> 31 << 2 * k;
            below |= ((lanes->word[k][i] >> 16) - bound) >> 31 << (2 * k + 1);
        }
        byte[i] = (uint8_t)~below;
    }
}

void random_at_least(const struct random_stream *stream, uint64_t item, uint32_t block,
                     uint32_t count, uint32_t bound, uint64_t *bits)
{
    struct lanes lanes;
    uint8_t byte[LANES];
    memset(bits, 0, (count + 7) / 8 * sizeof *bits);
    for (uint32_t done = 0; done < count; done += LANES) {
        draw_lanes(stream, item, block + done, &lanes);
        compare_lanes(&lanes, bound, byte);
        memcpy((uint8_t *)bits + done, byte, count - done < LANES ? count - done : LANES);
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
    static const double two_pi = 6.283185307179586476925286766559;
    uint32_t words[4];
    random_block(stream, item, block, words);
    for (int i = 0; i < 4; i += 2) {
        /* (0, 1] keeps the logarithm finite. */
        const double radius = sqrt(-2.0 * log(((double)words[i] + 1.0) * 0x1p-32));
        const double angle = two_pi * ((double)words[i + 1] * 0x1p-32);
        out[i] = (float)(radius * cos(angle));
        out[i + 1] = (float)(radius * sin(angle));
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
