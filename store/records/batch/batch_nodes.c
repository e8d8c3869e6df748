#include "store/records/batch/batch_nodes.h"

#include "common/numbers/cpu_kernel.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

enum { PREFETCH_DISTANCE = 16 };

CPU_KERNEL_OF(uint32_t, largest_of, (const uint32_t *value, uint32_t count), (value, count))
{
    uint32_t largest = 0;
    for (uint32_t i = 0; i < count; i++)
        largest = value[i] > largest ? value[i] : largest;
    return largest;
}

uint32_t batch_nodes_largest(const uint32_t *value, uint32_t count)
{
    return largest_of(value, count);
}

static inline uint32_t slot_of(uint32_t node, unsigned shift)
{
    return (uint32_t)(node * 2654435769U) >> shift;
}

static enum error_code node_twice(const struct mini_batch *batch, uint32_t index, struct error *err)
{
    uint32_t first = 0;
    while (batch->node[first] != batch->node[index])
        first++;
    return error_set(err, ERROR_CORRUPT,
                     "node[%" PRIu32 "]: expected each node once, found %" PRIu32
                     ", which is node[%" PRIu32 "] too",
                     index, batch->node[index], first);
}

/* Enters every node into an open-addressing set with at least twice as many places. A place holds
 * the node plus one, so that zero means empty. Returns the index of the first node that was there
 * already, or node_count. */
static uint32_t enter_hashed(const struct mini_batch *batch, uint32_t *set, unsigned bits)
{
    const uint32_t mask = (uint32_t)((1ULL << bits) - 1);
    const unsigned shift = 32 - bits;
    for (uint32_t i = 0; i < batch->node_count; i++) {
        if (batch->node_count - i > PREFETCH_DISTANCE)
            __builtin_prefetch(&set[slot_of(batch->node[i + PREFETCH_DISTANCE], shift)], 1);
        const uint32_t node = batch->node[i];
        uint32_t at = slot_of(node, shift);
        while (set[at] != 0 && set[at] != node + 1)
            at = (at + 1) & mask;
        if (set[at] != 0)
            return i;
        set[at] = node + 1;
    }
    return batch->node_count;
}

/* Does the same with one bit for each node up to the largest: for graphs of up to some ten million
 * nodes this set stays in cache. */
static uint32_t enter_bits(const struct mini_batch *batch, uint64_t *set)
{
    uint64_t twice = 0;
    for (uint32_t i = 0; i < batch->node_count; i++) {
        const uint32_t node = batch->node[i];
        const uint64_t word = set[node / 64];
        twice |= word >> (node % 64) & 1;
        set[node / 64] = word | 1ULL << (node % 64);
    }
    if (!twice)
        return batch->node_count;
    memset(set, 0, (batch_nodes_largest(batch->node, batch->node_count) / 64 + 1ULL) * sizeof *set);
    for (uint32_t i = 0; i < batch->node_count; i++) {
        uint64_t *word = &set[batch->node[i] / 64];
        const uint64_t bit = 1ULL << (batch->node[i] % 64);
        if (*word & bit)
            return i;
        *word |= bit;
    }
    return batch->node_count;
}

/* UINT32_MAX is no node id: ids are below a 32-bit count. */
enum error_code batch_nodes_check_ids(const struct mini_batch *batch, struct error *err)
{
    for (uint32_t i = 0; batch->node_limit == 0 && i < batch->node_count; i++)
        if (batch->node[i] == UINT32_MAX)
            return error_set(err, ERROR_CORRUPT,
                             "node[%" PRIu32 "]: expected at most %" PRIu32 ", found %" PRIu32, i,
                             UINT32_MAX - 1, UINT32_MAX);
    return ERROR_NONE;
}

/* Uses whichever set is smaller. */
enum error_code batch_nodes_check_once(struct mini_batch *batch, struct error *err)
{
    unsigned bits = 1;
    while (bits < 32 && (1ULL << bits) < 2 * (uint64_t)batch->node_count)
        bits++;
    if (batch->node_count > 1U << 31) /* a search in the set needs a free place to stop at */
        return error_set(err, ERROR_CORRUPT, "expected at most 2147483648 nodes, found %" PRIu32,
                         batch->node_count);
    const uint64_t bit_words = batch->node_limit / 64 + 1ULL;
    const bool is_hashed = bit_words * 64 > (1ULL << bits) * 32;
    const uint64_t words = is_hashed ? (1ULL << bits) / 2 : bit_words;
    uint64_t *set = NULL;
    const enum error_code rc =
        arena_new(&batch->memory, &set, words, "the check of a mini-batch", err);
    if (rc != ERROR_NONE)
        return rc;
    memset(set, 0, words * sizeof *set);
    const uint32_t twice =
        is_hashed ? enter_hashed(batch, (uint32_t *)(void *)set, bits) : enter_bits(batch, set);
    return twice < batch->node_count ? node_twice(batch, twice, err) : ERROR_NONE;
}

enum error_code mini_batch_numbers(const struct mini_batch *batch, uint32_t type,
                                   const struct type_ranges *ranges, const uint32_t *type_book,
                                   uint32_t *out, struct error *err)
{
    const uint32_t begin = mini_batch_node_begin(batch, type);
    const uint32_t count = mini_batch_node_begin(batch, type + 1) - begin;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t node = batch->node[begin + i];
        const bool is_known = node < ranges->part_start[ranges->part_count];
        const int part = is_known ? type_ranges_part(ranges, node) : 0;
        if (!is_known || node < type_ranges_first(ranges, part, type) ||
            node >= type_ranges_first(ranges, part, type + 1))
            return error_set(err, ERROR_CORRUPT,
                             "node[%" PRIu32 "]: expected a node of type %" PRIu32
                             ", found %" PRIu32,
                             begin + i, type, node);
        out[i] = type_book[part] + (node - type_ranges_first(ranges, part, type));
    }
    return ERROR_NONE;
}
