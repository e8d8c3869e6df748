/*
 * neighbor_rows - finds the topology's rows of the nodes of a batch, in the current relation of a
 * neighbor_sampler.
 *
 * The functions are inlined in the loops of neighbor_sampler.c, which draws, and of
 * neighbor_ends.c, which looks up degrees and sums.
 */
#ifndef STAGES_SAMPLING_ROWS_NEIGHBOR_ROWS_H
#define STAGES_SAMPLING_ROWS_NEIGHBOR_ROWS_H

#include "common/numbers/cpu_kernel.h"
#include "stages/sampling/rows/neighbor_state.h"

/* Reports the row that is out of range. Fails: always ERROR_CORRUPT. */
MUST_CHECK enum error_code neighbor_rows_bad(const struct sampled_row *row, uint64_t end,
                                             struct error *err);

/* Returns the graph's number of node `local` of the target type. */
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

/* Prefetches the start and the end of a row. The end of a row is the start of the next one, one
 * time in eight on another cache line. The function is always inlined: gcc 12 assumes that a
 * function that only prefetches has no effect, and leaves out its calls. */
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

/* Fills `block` with the next nodes of first .. end - 1 and prefetches their row starts. */
void neighbor_rows_block(const struct neighbor_sampler *s, uint32_t first, uint32_t end,
                         struct row_block *block);

#endif
