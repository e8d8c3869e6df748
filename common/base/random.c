#include "common/base/random.h"

#include "common/base/cpu_clones.h"
#include "common/base/error.h"

#include <Random123/philox.h>
#include <math.h>
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

/* What the counters of LANES blocks that follow each other have in common. */
struct counters {
    uint32_t item, high, block, round, purpose, key0, key1;
};

static struct counters counters_of(const struct random_stream *stream, uint64_t item,
                                   uint32_t block)
{
    return (struct counters){.item = (uint32_t)item,
                             .high = (uint32_t)(item >> 32) << 24,
                             .block = block,
                             .round = stream->round,
                             .purpose = stream->purpose_word,
                             .key0 = (uint32_t)stream->seed,
                             .key1 = (uint32_t)(stream->seed >> 32)};
}

/* Words lie in lanes of 64 bits, of which the upper half is never looked at, so that a product is at once
 * where the next turn wants its halves. */
CPU_CLONES
static void philox_lanes(const struct counters *counters, uint32_t word[4][LANES])
{
    uint64_t w[4][LANES];
    uint32_t key0 = counters->key0, key1 = counters->key1;
    for (uint32_t i = 0; i < LANES; i++) {
        w[0][i] = counters->item;
        w[1][i] = counters->high | ((counters->block + i) & 0xffffffU);
        w[2][i] = counters->round;
        w[3][i] = counters->purpose;
    }
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
            word[k][i] = (uint32_t)w[k][i];
}

void random_blocks(const struct random_stream *stream, uint64_t item, uint32_t block,
                   uint32_t count, uint32_t *out)
{
    uint32_t word[4][LANES];
    for (uint32_t done = 0; done < count; done += LANES) {
        const struct counters counters = counters_of(stream, item, block + done);
        philox_lanes(&counters, word);
        for (uint32_t i = 0; i < LANES && done + i < count; i++)
            for (uint32_t k = 0; k < 4; k++)
                *out++ = word[k][i];
    }
}

/* A byte of each lane: the borrow of draw - bound says that the draw is below. */
CPU_CLONES
static void compare_lanes(const uint32_t word[4][LANES], uint32_t bound, uint8_t *restrict byte)
{
    for (int i = 0; i < LANES; i++) {
        uint32_t below = 0;
        for (int k = 0; k < 4; k++) {
            below |= ((word[k][i] & 0xffffU) - bound) >> 31 << 2 * k;
            below |= ((word[k][i] >> 16) - bound) >> 31 << (2 * k + 1);
        }
        byte[i] = (uint8_t)~below;
    }
}

static void at_least_portable(const struct counters *counters, uint32_t bound, uint64_t bits[2])
{
    uint32_t word[4][LANES];
    philox_lanes(counters, word);
    compare_lanes((const uint32_t(*)[LANES])word, bound, (uint8_t *)bits);
}

#ifdef __x86_64__
/* The same by hand, eight counters to a vector, and the bits out of comparisons of 32 draws at once. gcc does
 * not see that the upper halves of the factors do not matter, and takes twice as long. */
__attribute__((target("avx512f,avx512bw,bmi2"))) static void
at_least_avx512(const struct counters *counters, uint32_t bound, uint64_t bits[2])
{
    static const uint64_t pair[4] = {0x0303030303030303U, 0x0c0c0c0c0c0c0c0cU, 0x3030303030303030U,
                                     0xc0c0c0c0c0c0c0c0U};
    const __m512i factor0 = _mm512_set1_epi64(PHILOX_M4x32_0);
    const __m512i factor1 = _mm512_set1_epi64(PHILOX_M4x32_1);
    const __m512i number = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    uint32_t key0 = counters->key0, key1 = counters->key1;
    __m512i w[4][2];
    for (int h = 0; h < 2; h++) {
        const __m512i block =
            _mm512_add_epi64(number, _mm512_set1_epi64((int64_t)counters->block + 8 * h));
        w[0][h] = _mm512_set1_epi64(counters->item);
        w[1][h] = _mm512_or_si512(_mm512_and_si512(block, _mm512_set1_epi64(0xffffff)),
                                  _mm512_set1_epi64(counters->high));
        w[2][h] = _mm512_set1_epi64(counters->round);
        w[3][h] = _mm512_set1_epi64(counters->purpose);
    }
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
    bits[0] = bits[1] = 0;
    for (int k = 0; k < 4; k++) {
        const __m512i words =
            _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi64_epi32(w[k][0])),
                               _mm512_cvtepi64_epi32(w[k][1]), 1);
        const uint32_t kept =
            _mm512_cmpge_epu16_mask(words, _mm512_set1_epi16((int16_t)(uint16_t)bound));
        bits[0] |= _pdep_u64(kept & 0xffffU, pair[k]);
        bits[1] |= _pdep_u64(kept >> 16, pair[k]);
    }
}
#endif

/* The bits of LANES blocks; bound < 65536. */
static void at_least(const struct counters *counters, uint32_t bound, uint64_t bits[2])
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("bmi2")) {
        at_least_avx512(counters, bound, bits);
        return;
    }
#endif
    at_least_portable(counters, bound, bits);
}

void random_at_least(const struct random_stream *stream, uint64_t item, uint32_t block,
                     uint32_t count, uint32_t bound, uint64_t *bits)
{
    must(bound < 65536);
    for (uint32_t done = 0; done < count; done += LANES) {
        const struct counters counters = counters_of(stream, item, block + done);
        uint64_t both[2];
        at_least(&counters, bound, both);
        for (uint32_t i = 0; i < 2 && done + 8 * i < count; i++) {
            const uint32_t blocks = count - done - 8 * i;
            bits[done / 8 + i] = blocks >= 8 ? both[i] : both[i] & ((1ULL << 8 * blocks) - 1);
        }
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
