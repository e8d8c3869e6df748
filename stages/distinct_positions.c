#include "stages/distinct_positions.h"

/* A list of this many is kept sorted by moving its elements; above it, or when the row is short, one bit
 * for each position is cheaper, and gives the ascending order for free. */
enum { LIST_COUNT_MAX = 32, BITS_PER_LIST_ELEMENT = 256 };

static int uses_list(uint32_t length, uint32_t count)
{
    return count <= LIST_COUNT_MAX && length / BITS_PER_LIST_ELEMENT > count;
}

size_t distinct_positions_scratch(uint32_t length, uint32_t count)
{
    return uses_list(length, count) ? 0 : (size_t)length / 64 + 1;
}

/* What step i draws of [0, j]. `words` holds the random words of this step and the three around it. */
static inline uint32_t draw(const struct random_stream *stream, uint64_t item, uint32_t i,
                            uint32_t j, uint32_t words[4])
{
    if (i % 4 == 0)
        random_block(stream, item, i / 4, words);
    return random_below(words[i % 4], j + 1);
}

/* Step i takes a position of [0, j], j = length - count + i; when that one is taken already it takes
 * j, which is above all taken so far and goes to the end. */
static void draw_list(const struct random_stream *stream, uint64_t item, uint32_t length,
                      uint32_t count, uint32_t *out)
{
    uint32_t words[4] = {0};
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t j = length - count + i;
        const uint32_t drawn = draw(stream, item, i, j, words);
        uint32_t at = i;
        while (at > 0 && out[at - 1] > drawn)
            at--;
        if (at > 0 && out[at - 1] == drawn) {
            out[i] = j;
            continue;
        }
        for (uint32_t k = i; k > at; k--)
            out[k] = out[k - 1];
        out[at] = drawn;
    }
}

static void draw_bits(const struct random_stream *stream, uint64_t item, uint32_t length,
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

void distinct_positions_draw(const struct random_stream *stream, uint64_t item, uint32_t length,
                             uint32_t count, uint64_t *scratch, uint32_t *out)
{
    if (uses_list(length, count)) {
        draw_list(stream, item, length, count, out);
        return;
    }
    draw_bits(stream, item, length, count, scratch);
    collect_bits(scratch, length, out);
}
