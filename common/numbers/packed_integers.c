#include "common/numbers/packed_integers.h"

#include "common/numbers/cpu_kernel.h"

#include <string.h>

/* The values of a group take `width` bytes, those of a block `width` words. The kernels store or
 * load up to eight bytes past the group. So the last block, which provides these bytes, is left to
 * the code that works value by value. */
enum { GROUP = 8, BLOCK = 64 };

static size_t in_whole_blocks(size_t count)
{
    return count ? (count - 1) / BLOCK * BLOCK : 0;
}

CPU_KERNEL_OF(uint32_t, all_bits_of, (const uint32_t *value, size_t count), (value, count))
{
    uint32_t bits = 0;
    for (size_t i = 0; i < count; i++)
        bits |= value[i];
    return bits;
}

unsigned packed_integers_width(const uint32_t *value, size_t count)
{
    return packed_integers_width_of(all_bits_of(value, count));
}

/* Packs groups. Each store contains the bits of its value and the rest of the byte before; the next
 * store overwrites the bytes after them. */
static void pack_groups(const uint32_t *value, size_t count, unsigned width, uint8_t *out)
{
    for (size_t i = 0; i < count; i += GROUP, out += width) {
        uint64_t bits = 0;
        for (unsigned k = 0; k < GROUP; k++) {
            const unsigned at = k * width / 8, next = (k + 1) * width / 8;
            bits |= (uint64_t)value[i + k] << (k * width % 8);
            memcpy(out + at, &bits, sizeof bits);
            bits >>= 8 * (next - at);
        }
    }
}

void packed_integers_pack(const uint32_t *value, size_t count, unsigned width, uint64_t *out)
{
    const size_t blocks = width ? in_whole_blocks(count) : 0;
    struct packed_writer writer = {.out = out + blocks / BLOCK * width};
    pack_groups(value, blocks, width, (uint8_t *)out);
    for (size_t i = blocks; i < count; i++)
        packed_writer_add(&writer, value[i], width);
    packed_writer_finish(&writer);
}

CPU_KERNEL(unpack_groups, (const uint8_t *packed, size_t count, unsigned width, uint32_t *out),
           (packed, count, width, out))
{
    const uint64_t mask = (1ULL << width) - 1;
    for (size_t i = 0; i < count; i += GROUP, packed += width)
        for (unsigned k = 0; k < GROUP; k++) {
            uint64_t bits = 0;
            memcpy(&bits, packed + k * width / 8, sizeof bits);
            out[i + k] = (uint32_t)(bits >> (k * width % 8) & mask);
        }
}

static uint32_t unpack_one(const uint64_t *packed, size_t index, unsigned width)
{
    const uint64_t bit = (uint64_t)index * width;
    const unsigned shift = bit % 64;
    uint64_t bits = packed[bit / 64] >> shift;
    if (shift + width > 64)
        bits |= packed[bit / 64 + 1] << (64 - shift);
    return (uint32_t)(bits & ((1ULL << width) - 1));
}

void packed_integers_unpack(const uint64_t *packed, size_t count, unsigned width, uint32_t *out)
{
    const size_t blocks = width ? in_whole_blocks(count) : 0;
    unpack_groups((const uint8_t *)packed, blocks, width, out);
    for (size_t i = blocks; i < count; i++)
        out[i] = width ? unpack_one(packed, i, width) : 0;
}

bool packed_integers_end_in_zeros(const uint64_t *packed, uint64_t count, unsigned width)
{
    const unsigned used = (unsigned)(count % 64 * width % 64);
    return used == 0 || packed[packed_integers_words(count, width) - 1] >> used == 0;
}
