/*
 * aggregation_walk - visits the rows that a gather reads, in order, and prefetches them.
 *
 * The gather has one form for each instruction set; all forms share this walk.
 */
#ifndef COMMON_NN_OPERATORS_AGGREGATION_WALK_H
#define COMMON_NN_OPERATORS_AGGREGATION_WALK_H

#include "common/math/vector.h"
#include "common/nn/operators/aggregation.h"

/* Returns the factor of edge e from source j, for an aggregation with edge values. */
CPU_INLINE float aggregation_edge_scale(const struct aggregation *aggregation, uint32_t e,
                                        uint32_t j)
{
    const float value = aggregation->edge_value[e];
    return aggregation->source_scale ? aggregation->source_scale[j] * value : value;
}

/* The prefetch distances: far enough ahead to hide the latency of memory, near enough that rows
 * are not evicted from the cache before use. They count edges rather than destinations, so that
 * they suit both hubs and destinations with few neighbours. */
enum { BYTES_FAR = 40960, BYTES_NEAR = 4800, ROWS_FAR = 8, ROWS_NEAR = 1, EDGES_INDEX = 32 };

CPU_INLINE uint32_t edges_in(uint32_t bytes, size_t row_bytes)
{
    return row_bytes < bytes ? (uint32_t)(bytes / row_bytes) : 1;
}

CPU_INLINE size_t input_start(const struct input_rows *input, uint32_t row)
{
    return (input->row_index ? input->row_index[row] : row) * input->stride;
}

CPU_INLINE const float *float_row(const struct input_rows *input, uint32_t row)
{
    return (const float *)input->base + input_start(input, row);
}

CPU_INLINE const bf16 *bf16_row(const struct input_rows *input, uint32_t row)
{
    return (const bf16 *)input->base + input_start(input, row);
}

CPU_INLINE const void *any_row(const struct input_rows *input, enum precision precision,
                               uint32_t row)
{
    if (precision == PRECISION_BF16)
        return bf16_row(input, row);
    return float_row(input, row);
}

/* Visits the edges of some rows in order and prefetches rows ahead of use. */
struct walk {
    const struct aggregation *aggregation;
    const struct message_block *block;
    struct input_rows input;
    enum precision precision; /* constant at each call, so the compiler specialises */
    /* the walk ends before these: `end` for destinations, edge_end for edges */
    uint32_t dim, end;
    uint32_t edge_end, far, near;
    size_t row_bytes;
};

CPU_INLINE void ask_for_row(const struct walk *walk, uint32_t row, bool far)
{
    const void *at = any_row(&walk->input, walk->precision, row);
    if (far)
        vector_prefetch_far(at, walk->row_bytes);
    else
        vector_prefetch(at, walk->row_bytes);
}

/* Prefetches the index of a row, which must be known before the row itself can be prefetched. */
CPU_INLINE void ask_for_index(const struct walk *walk, uint32_t edge)
{
    if (walk->input.row_index)
        __builtin_prefetch(&walk->input.row_index[walk->block->neighbor[edge]]);
}

CPU_INLINE void ask_ahead(const struct walk *walk, uint32_t edge)
{
    const uint32_t *neighbor = walk->block->neighbor + edge;
    const uint32_t left = walk->edge_end - edge;
    if (left > walk->far + EDGES_INDEX)
        ask_for_index(walk, edge + walk->far + EDGES_INDEX);
    if (left > walk->far)
        ask_for_row(walk, neighbor[walk->far], true);
    if (left > walk->near)
        ask_for_row(walk, neighbor[walk->near], false);
}

/* Prefetches the own rows of the destinations that come after i, if destinations are sources
 * too. */
CPU_INLINE void ask_for_own_rows(const struct walk *walk, uint32_t i)
{
    if (walk->block->is_bipartite)
        return;
    if (walk->end - i > ROWS_FAR)
        ask_for_row(walk, i + ROWS_FAR, true);
    if (walk->end - i > ROWS_NEAR)
        ask_for_row(walk, i + ROWS_NEAR, false);
}

CPU_INLINE struct walk start_walk(const struct aggregation *aggregation,
                                  const struct message_block *block, const struct input_rows *input,
                                  enum precision precision, uint32_t dim, uint32_t first,
                                  uint32_t end)
{
    const size_t row_bytes = dim * precision_bytes(precision);
    const uint32_t edge = block->row_start[first];
    const struct walk walk = {.aggregation = aggregation,
                              .block = block,
                              .input = *input,
                              .precision = precision,
                              .dim = dim,
                              .end = end,
                              .edge_end = block->row_start[end],
                              .far = edges_in(BYTES_FAR, row_bytes),
                              .near = edges_in(BYTES_NEAR, row_bytes),
                              .row_bytes = row_bytes};
    for (uint32_t e = edge; e < walk.edge_end && e - edge < walk.far; e++)
        ask_for_row(&walk, block->neighbor[e], true);
    return walk;
}

/* Rounds the sum of destination i into its row, and appends the own row and the padding. */
CPU_INLINE void finish_bf16(const struct walk *walk, uint32_t i, const float *restrict sum,
                            bf16 *restrict out)
{
    const size_t width = aggregation_width(walk->aggregation, walk->dim);
    bf16_of_floats(out, sum, walk->dim);
    if (walk->aggregation->self_beside)
        memcpy(out + walk->dim, bf16_row(&walk->input, i), walk->dim * sizeof *out);
    if (width % 2)
        out[width] = 0;
}

#endif
