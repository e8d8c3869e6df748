#include "common/math/stochastic_rounding.h"

#include "common/base/error.h"

#include <math.h>

/* Number of elements for which words are drawn at once: word j / RANDOM_LANES of item j %
 * RANDOM_LANES is that of element j. */
enum { DRAWN_AT_ONCE = 4 * RANDOM_LANES };

static void draw(const struct random_stream *stream, size_t first, uint32_t out[4][RANDOM_LANES])
{
    uint32_t item[RANDOM_LANES];
    must(first / 4 <= UINT32_MAX - RANDOM_LANES);
    for (uint32_t i = 0; i < RANDOM_LANES; i++)
        item[i] = (uint32_t)(first / 4) + i;
    random_items(stream, item, 0, 1, out);
}

static size_t piece_at(size_t first, size_t count)
{
    return count - first < DRAWN_AT_ONCE ? count - first : DRAWN_AT_ONCE;
}

/* --- bf16 --- */

CPU_KERNEL(round_to_bf16,
           (const float *restrict value, const uint32_t *restrict word, size_t count,
            bf16 *restrict out),
           (value, word, count, out))
{
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &value[i], sizeof bits);
        const uint32_t moved = bits + (word[i] & 0xffff);
        out[i] = (bf16)(((moved & 0x7f800000) == 0x7f800000 ? bits : moved) >> 16);
    }
}

void bf16_of_floats_stochastic(const struct random_stream *stream, const float *value, size_t count,
                               bf16 *out)
{
    for (size_t at = 0; at < count; at += DRAWN_AT_ONCE) {
        uint32_t word[4][RANDOM_LANES];
        draw(stream, at, word);
        round_to_bf16(value + at, word[0], piece_at(at, count), out + at);
    }
}

/* --- int8 --- */

static float scale_of(const float *value, size_t count)
{
    float most = 0.0F;
    for (size_t i = 0; i < count; i++)
        most = fmaxf(most, fabsf(value[i]));
    const float scale = most / 127.0F;
    return isfinite(127.0F * scale) ? scale : nextafterf(scale, 0.0F);
}

CPU_KERNEL(round_to_int8,
           (const float *restrict value, const uint32_t *restrict word, size_t count, float scale,
            int8_t *restrict out),
           (value, word, count, scale, out))
{
    for (size_t i = 0; i < count; i++) {
        const float unit = (float)(word[i] >> 8) * 0x1p-24F;
        const float step = scale > 0.0F ? floorf(value[i] / scale + unit) : 0.0F;
        out[i] = (int8_t)(step > 127.0F ? 127.0F : step < -127.0F ? -127.0F : step);
    }
}

void int8_of_floats_stochastic(const struct random_stream *stream, const float *value, size_t count,
                               size_t block, int8_t *out, float *scale)
{
    uint32_t word[4][RANDOM_LANES] = {{0}};
    size_t drawn_at = 0, drawn_end = 0;
    for (size_t first = 0; first < count; first += block) {
        const size_t end = count - first < block ? count : first + block;
        const float of_block = scale_of(value + first, end - first);
        scale[first / block] = of_block;
        for (size_t at = first; at < end;) {
            if (at == drawn_end) {
                draw(stream, at, word);
                drawn_at = at;
                drawn_end = at + DRAWN_AT_ONCE;
            }
            const size_t stop = end < drawn_end ? end : drawn_end;
            round_to_int8(value + at, &word[0][0] + (at - drawn_at), stop - at, of_block, out + at);
            at = stop;
        }
    }
}

CPU_KERNEL(scale_int8,
           (const int8_t *restrict value, float scale, size_t count, float *restrict out),
           (value, scale, count, out))
{
    for (size_t i = 0; i < count; i++)
        out[i] = (float)value[i] * scale;
}

void int8_to_floats(const int8_t *value, const float *scale, size_t count, size_t block, float *out)
{
    for (size_t first = 0; first < count; first += block)
        scale_int8(value + first, scale[first / block],
                   count - first < block ? count - first : block, out + first);
}
