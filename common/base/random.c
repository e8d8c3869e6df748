#include "common/base/random.h"

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
