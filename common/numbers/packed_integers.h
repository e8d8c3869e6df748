/*
 * packed_integers - arrays of 32-bit numbers, each stored in only as many bits as the largest of
 * them needs.
 *
 *   bit      0           width      2 width     ...            count width   rounded up to 64
 *            | value [0] | value [1] | ...       | value [count - 1] | zeros |
 *
 * Bit b of the stream is bit b % 64 of word b / 64, lowest first; memory is little-endian, so it is
 * also bit b % 8 of byte b / 8. Eight values of any width are a whole number of bytes. So all
 * groups of eight are packed and unpacked by the same shifts, with 64-bit accesses at any byte, and
 * no group has to wait for the one before. Sixty-four values are a whole number of words.
 */
#ifndef COMMON_NUMBERS_PACKED_INTEGERS_H
#define COMMON_NUMBERS_PACKED_INTEGERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PACKED_WIDTH_MAX = 32 };

/* Return the bits of `value`, 0 for 0, or those of the largest value of an array. */
static inline unsigned packed_integers_width_of(uint32_t value)
{
    unsigned width = 0;
    for (; value; value >>= 1)
        width++;
    return width;
}
unsigned packed_integers_width(const uint32_t *value, size_t count);

/* Returns the words of `count` values; width <= PACKED_WIDTH_MAX. */
static inline uint64_t packed_integers_words(uint64_t count, unsigned width)
{
    return count / 64 * width + (count % 64 * width + 63) / 64;
}

/* Packs values. Shapes: value [count], each below 2^width; out [packed_integers_words()]. */
void packed_integers_pack(const uint32_t *value, size_t count, unsigned width, uint64_t *out);
/* Unpacks values. Shapes: packed [packed_integers_words()], of any content; out [count]. */
void packed_integers_unpack(const uint64_t *packed, size_t count, unsigned width, uint32_t *out);
/* Returns whether the bits of the last word that belong to no value are zero, as packing leaves
 * them. */
bool packed_integers_end_in_zeros(const uint64_t *packed, uint64_t count, unsigned width);

/* Packs one value after another into an array that has room for them. */
struct packed_writer { /* {.out = words} */
    uint64_t *out;
    uint64_t word;   /* not yet stored */
    unsigned filled; /* number of its bits that are filled, below 64 */
};

/* value < 2^width */
static inline void packed_writer_add(struct packed_writer *writer, uint32_t value, unsigned width)
{
    writer->word |= (uint64_t)value << writer->filled;
    writer->filled += width;
    if (writer->filled < 64)
        return;
    *writer->out++ = writer->word;
    writer->filled -= 64;
    writer->word = (uint64_t)value >> (width - writer->filled);
}

/* Stores the last word, if there is one. */
static inline void packed_writer_finish(struct packed_writer *writer)
{
    if (writer->filled)
        *writer->out++ = writer->word;
    writer->word = 0;
    writer->filled = 0;
}

#endif
