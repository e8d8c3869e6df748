/*
 * neighbor_rows - where the topology has the rows of a batch's nodes, in the relation at hand of a
 * neighbor_sampler.
 *
 * Inlined in the loops of neighbor_sampler.c, which draws, and neighbor_ends.c, which looks up what
 * the whole graph has.
 */
#ifndef STAGES_SAMPLING_NEIGHBOR_ROWS_H
#define STAGES_SAMPLING_NEIGHBOR_ROWS_H

#include "common/base/cpu_kernel.h"
#include "stages/sampling/neighbor_state.h"

/* Says which row is out of range. */
MUST_CHECK enum error_code neighbor_rows_bad(const struct sampled_row *row, uint64_t end,
                                             struct error *err);

/* Node `local` of the target type. */
static inline uint32_t neighbor_rows_node(const struct neighbor_sampler *s, uint32_t local)
{
    return s->lists.node[s->rows->target].data[local];
}

static inline void neighbor_rows_locate(const struct neighbor_sampler *s, uint32_t node,
                                        struct sampled_row *row)
{
    uint32_t part = s->part_hint[node >> s->hint_shift];
    while (s->topology->book[part + 1] <= node)
        part++;
    row->part = &s->topology->part[(size_t)part * s->lists.relation_count + s->relation];
    row->index = node - row->part->first_node;
}

/* The end of a row is the start of the next, one time in eight on another cache line. Always
 * inlined: gcc 12 takes a function that only prefetches for one without effects, and leaves out its
 * calls. */
CPU_INLINE void neighbor_rows_prefetch(const struct sampled_row *row)
{
    const uint32_t mask = (1U << TOPOLOGY_CHUNK_SHIFT) - 1, end = row->index + 1;
    const uint64_t **chunk = row->part->row_start_chunk;
    __builtin_prefetch(&chunk[row->index >> TOPOLOGY_CHUNK_SHIFT][row->index & mask], 0, 2);
    __builtin_prefetch(&chunk[end >> TOPOLOGY_CHUNK_SHIFT][end & mask], 0, 2);
}

MUST_CHECK static inline enum error_code neighbor_rows_read(struct sampled_row *row,
                                                            struct error *err)
{
    row->start = topology_row_start(row->part, row->index);
    const uint64_t end = topology_row_start(row->part, row->index + 1);
    if (end < row->start || end > row->part->edge_count || end - row->start > UINT32_MAX)
        return neighbor_rows_bad(row, end, err);
    row->length = (uint32_t)(end - row->start);
    return ERROR_NONE;
}

/* Says which nodes are the next block and asks for their row starts. */
void neighbor_rows_block(const struct neighbor_sampler *s, uint32_t first, uint32_t end,
                         struct row_block *block);

#endif
