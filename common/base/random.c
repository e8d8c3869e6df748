#include "common/base/random.h"

#include "common/base/cpu_clones.h"

#include <Random123/philox.h>
#include <math.h>

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

/* Philox4x32-10 on LANES counters side by side, in a form that compilers turn into vector code; the
 * library's own is one counter at a time. tests/common/base/random_test.c holds the two together. */
enum { LANES = 16 };

struct lanes {
    uint32_t word[4][LANES];
};

CPU_CLONES
static void philox_lanes(struct lanes *lanes, uint32_t key0, uint32_t key1)
{
    uint32_t(*w)[LANES] = lanes->word;
    for (int turn = 0; turn < 10; turn++, key0 += PHILOX_W32_0, key1 += PHILOX_W32_1) {
        for (int i = 0; i < LANES; i++) {
            const uint64_t product0 = (uint64_t)PHILOX_M4x32_0 * w[0][i];
            const uint64_t product1 = (uint64_t)PHILOX_M4x32_1 * w[2][i];
            w[0][i] = (uint32_t)(product1 >> 32) ^ w[1][i] ^ key0;
            w[1][i] = (uint32_t)product1;
            w[2][i] = (uint32_t)(product0 >> 32) ^ w[3][i] ^ key1;
            w[3][i] = (uint32_t)product0;
        }
    }
}

void random_blocks(const struct random_stream *stream, uint64_t item, uint32_t block,
                   uint32_t count, uint32_t *out)
{
    struct lanes lanes;
    for (uint32_t done = 0; done < count; done += LANES) {
        for (uint32_t i = 0; i < LANES; i++) {
            lanes.word[0][i] = (uint32_t)item;
            lanes.word[1][i] = (uint32_t)(item >> 32) << 24 | ((block + done + i) & 0xffffffU);
            lanes.word[2][i] = stream->round;
            lanes.word[3][i] = stream->purpose_word;
        }
        philox_lanes(&lanes, (uint32_t)stream->seed, (uint32_t)(stream->seed >> 32));
        for (uint32_t i = 0; i < LANES && done + i < count; i++)
            for (uint32_t k = 0; k < 4; k++)
                *out++ = lanes.word[k][i];
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
