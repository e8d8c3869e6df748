/*
 * edge_slots - defines where the values of edges lie: one slot for every edge of a block and one
 * for each destination itself.
 *
 * Attention reads the neighbours of a destination and the destination itself. So row i of an array
 * by slots has one slot for each edge of i, in the order of the edges, and one more for i itself.
 * This last slot replaces an edge from i to itself; the slot of the replaced edge holds 0 and is
 * never read. With several heads a slot has a value for each head.
 *
 * In a bipartite block a destination is not a source, so it has slots for its edges only.
 *
 *   edges of i   j0 j1 j2        row i begins at edge_slot(block, i)
 *   slots of i   j0 j1 j2 i      row i ends before edge_slot(block, i + 1)
 */
#ifndef COMMON_NN_OPERATORS_EDGE_SLOTS_H
#define COMMON_NN_OPERATORS_EDGE_SLOTS_H

#include "common/graph/message_block.h"
#include "common/graph/transposed_edges.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The block and the sizes that all operators on slots share. */
struct edge_shape {
    struct message_block block;
    uint32_t heads, channels; /* a row of a node is [heads, channels] */
};

static inline size_t edge_slot(const struct message_block *block, uint32_t i)
{
    return (size_t)(block->row_start[i] - block->row_start[0]) + (block->is_bipartite ? 0 : i);
}

/* Returns the number of slots, which is the number of values for one head. */
static inline size_t edge_slot_count(const struct message_block *block)
{
    return message_block_edges(block) + (block->is_bipartite ? 0 : block->destination_count);
}

/* Returns the slot of destination i itself. The block must not be bipartite. */
static inline size_t edge_slot_of_self(const struct message_block *block, uint32_t i)
{
    return edge_slot(block, i + 1) - 1;
}

/* Returns the source of slot number k of row i. */
static inline uint32_t edge_slot_source(const struct message_block *block, uint32_t i, uint32_t k)
{
    const uint32_t e = block->row_start[i] + k;
    return e < block->row_start[i + 1] ? block->neighbor[e] : i;
}

/* Returns the number of slots of row i. */
static inline uint32_t edge_slots_of(const struct message_block *block, uint32_t i)
{
    return block->row_start[i + 1] - block->row_start[i] + !block->is_bipartite;
}

/* Returns whether slot k of row i is an edge from i to itself, which the last slot replaces. */
static inline bool edge_slot_is_replaced(const struct message_block *block, uint32_t i, uint32_t k)
{
    return !block->is_bipartite && k + 1 < edge_slots_of(block, i) &&
           edge_slot_source(block, i, k) == i;
}

/* Returns the slot of edge `edge` (transposed_edges.h) of destination i. */
static inline size_t edge_slot_of_edge(const struct message_block *block, uint32_t i, uint32_t edge)
{
    return (size_t)(edge - block->row_start[0]) + (block->is_bipartite ? 0 : i);
}

/* Prefetches the row of a destination that comes some edges after `edge`, in a walk over
 * transposed edges that ends before `end`. The rows are [destinations, width]. */
static inline void edge_slots_ask_ahead(const struct transposed_edges *edges, uint32_t end,
                                        uint32_t edge, const float *rows, size_t width)
{
    enum { EDGES_AHEAD = 6, FLOATS_OF_LINE = 16 };
    if (end - edge <= EDGES_AHEAD)
        return;
    const float *row = rows + edges->destination[edge + EDGES_AHEAD] * width;
    for (size_t at = 0; at < width; at += FLOATS_OF_LINE)
        __builtin_prefetch(row + at);
}

#endif
