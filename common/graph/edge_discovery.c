#include "common/graph/edge_discovery.h"

#include "common/numbers/cpu_kernel.h"
#include "common/numbers/cpu_level.h"
#include "common/numbers/packed_integers.h"

#include <string.h>
#if CPU_LEVEL_X86
#include <immintrin.h>
#endif

/* Whether an edge discovers a node is unpredictable, so the code uses it as a number and never
 * branches on it. */

enum { WORD = 64, LANES = EDGE_DISCOVERY_SLACK };

static unsigned edges_of_word(uint64_t first, uint64_t edge_count)
{
    return edge_count - first < WORD ? (unsigned)(edge_count - first) : WORD;
}

/* The state after the edges so far. */
struct marking {
    uint32_t next, rest;
};

CPU_INLINE uint64_t mark_edges(const uint32_t *neighbor, unsigned count, struct marking *at)
{
    uint64_t marks = 0;
    for (unsigned i = 0; i < count; i++) {
        const uint32_t found = neighbor[i] == at->next;
        marks |= (uint64_t)found << i;
        at->rest |= neighbor[i] & (found - 1);
        at->next += found;
    }
    return marks;
}

#if CPU_LEVEL_X86
/* Marks 64 edges. Edges whose sources were known before them discover nothing. If the other sources
 * are the next numbers in order, each of them is a discovery; otherwise some source repeats a node
 * that was discovered among these edges, and they are processed one by one. */
CPU_AVX512_CODE static uint64_t mark_word_avx512(const uint32_t *neighbor, struct marking *at)
{
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    uint64_t marks = 0;
    for (unsigned i = 0; i < WORD; i += LANES) {
        const __m512i source = _mm512_loadu_si512(neighbor + i);
        const __m512i next = _mm512_set1_epi32((int)at->next);
        const __mmask16 unknown = _mm512_cmpge_epu32_mask(source, next);
        const unsigned count = (unsigned)__builtin_popcount(unknown), all = (1U << count) - 1;
        const __mmask16 in_order = _mm512_cmpeq_epi32_mask(
            _mm512_maskz_compress_epi32(unknown, source), _mm512_add_epi32(next, lanes));
        if ((in_order & all) != all) {
            marks |= mark_edges(neighbor + i, LANES, at) << i;
            continue;
        }
        marks |= (uint64_t)unknown << i;
        at->next += count;
        at->rest |= (uint32_t)_mm512_mask_reduce_or_epi32((__mmask16)~unknown, source);
    }
    return marks;
}
#endif

static uint64_t mark_word(const uint32_t *neighbor, struct marking *at)
{
#if CPU_LEVEL_X86
    if (cpu_level() >= CPU_AVX512)
        return mark_word_avx512(neighbor, at);
#endif
    return mark_edges(neighbor, WORD, at);
}

struct edge_discovery edge_discovery_mark(const uint32_t *neighbor, uint64_t edge_count,
                                          uint32_t first_new, uint64_t *is_new)
{
    struct marking at = {.next = first_new};
    const uint64_t whole = edge_count / WORD * WORD;
    for (uint64_t first = 0; first < whole; first += WORD)
        is_new[first / WORD] = mark_word(neighbor + first, &at);
    if (whole < edge_count)
        is_new[whole / WORD] = mark_edges(neighbor + whole, (unsigned)(edge_count - whole), &at);
    return (struct edge_discovery){.rest_count =
                                       edge_count - edge_discovery_count(is_new, edge_count),
                                   .rest_width = packed_integers_width_of(at.rest)};
}

void edge_discovery_pack_rest(const uint32_t *neighbor, uint64_t edge_count, const uint64_t *is_new,
                              unsigned rest_width, uint64_t *out)
{
    struct packed_writer writer = {0};
    writer.out = out;
    for (uint64_t first = 0; first < edge_count; first += WORD) {
        const unsigned count = edges_of_word(first, edge_count);
        uint64_t left = ~is_new[first / WORD] & UINT64_MAX >> (WORD - count);
        for (; left; left &= left - 1)
            packed_writer_add(&writer, neighbor[first + (unsigned)__builtin_ctzll(left)],
                              rest_width);
    }
    packed_writer_finish(&writer);
}

uint64_t edge_discovery_count(const uint64_t *is_new, uint64_t edge_count)
{
    uint64_t found = 0;
    for (uint64_t first = 0; first < edge_count; first += WORD)
        found += (unsigned)__builtin_popcountll(is_new[first / WORD]);
    return found;
}

/* The state of the restoration: where the next source comes from. */
struct restoring {
    const uint32_t *rest;
    uint32_t next;
};

CPU_INLINE void restore_edges(uint64_t marks, unsigned count, struct restoring *at,
                              uint32_t *neighbor)
{
    for (unsigned i = 0; i < count; i++) {
        const uint32_t found = marks >> i & 1, known = *at->rest;
        neighbor[i] = known ^ ((known ^ at->next) & (0 - found));
        at->next += found;
        at->rest += 1 - found;
    }
}

#if CPU_LEVEL_X86
CPU_AVX512_CODE static void restore_word_avx512(uint64_t marks, struct restoring *at,
                                                uint32_t *neighbor)
{
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    for (unsigned i = 0; i < WORD; i += LANES, marks >>= LANES) {
        const __mmask16 found = (__mmask16)marks;
        const unsigned found_count = (unsigned)__builtin_popcount(found);
        const __m512i next = _mm512_add_epi32(_mm512_set1_epi32((int)at->next),
                                              _mm512_maskz_expand_epi32(found, lanes));
        const __m512i rest = _mm512_loadu_si512(at->rest);
        _mm512_storeu_si512(neighbor + i, _mm512_mask_expand_epi32(next, (__mmask16)~found, rest));
        at->next += found_count;
        at->rest += LANES - found_count;
    }
}
#endif

static void restore_word(uint64_t marks, struct restoring *at, uint32_t *neighbor)
{
#if CPU_LEVEL_X86
    if (cpu_level() >= CPU_AVX512) {
        restore_word_avx512(marks, at, neighbor);
        return;
    }
#endif
    for (unsigned i = 0; i < WORD; i += 8)
        restore_edges(marks >> i, 8, at, neighbor + i);
}

/* Restores in place: the write position stays behind the read position, because the next of the
 * rest is ahead by as many edges as still have discoveries. The values read after the last of the
 * rest are not used. */
void edge_discovery_restore(const uint64_t *is_new, uint64_t edge_count, uint64_t rest_count,
                            uint32_t first_new, uint32_t *neighbor)
{
    struct restoring at = {.rest = neighbor + (edge_count - rest_count), .next = first_new};
    const uint64_t whole = edge_count / WORD * WORD;
    memset(neighbor + edge_count, 0, EDGE_DISCOVERY_SLACK * sizeof *neighbor);
    for (uint64_t first = 0; first < whole; first += WORD)
        restore_word(is_new[first / WORD], &at, neighbor + first);
    if (whole < edge_count)
        restore_edges(is_new[whole / WORD], (unsigned)(edge_count - whole), &at, neighbor + whole);
}
