#include "common/nn/mixing.h"

#include "common/math/vector.h"

/* How far ahead of use rows are asked for: soon enough to hide memory, not so soon that they leave the cache
 * again. Counted in edges, so that rows of few neighbours and hubs are served alike. */
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

CPU_INLINE void add_row(float *restrict sum, const struct input_rows *input,
                        enum precision precision, uint32_t row, const float *scale, uint32_t dim)
{
    if (precision == PRECISION_BF16 && scale)
        vector_add_scaled_bf16(sum, bf16_row(input, row), *scale, dim);
    else if (precision == PRECISION_BF16)
        vector_add_bf16(sum, bf16_row(input, row), dim);
    else if (scale)
        vector_add_scaled(sum, float_row(input, row), *scale, dim);
    else
        vector_add(sum, float_row(input, row), dim);
}

/* A walk over the edges of some rows in order, which asks for rows ahead of it. */
struct walk {
    const struct mixing *mixing;
    const struct message_block *block;
    const struct input_rows *input;
    enum precision precision; /* a constant where it is used */
    uint32_t dim, end;        /* destinations end there, and edges at edge_end */
    uint32_t edge_end, far, near;
    size_t row_bytes;
};

CPU_INLINE void ask_for_edge(const struct walk *walk, uint32_t edge, bool far)
{
    const void *row = any_row(walk->input, walk->precision, walk->block->neighbor[edge]);
    if (far)
        vector_prefetch_far(row, walk->row_bytes);
    else
        vector_prefetch(row, walk->row_bytes);
}

/* Where a row lies has to be known before the row can be asked for. */
CPU_INLINE void ask_for_index(const struct walk *walk, uint32_t edge)
{
    if (walk->input->row_index)
        __builtin_prefetch(&walk->input->row_index[walk->block->neighbor[edge]]);
}

CPU_INLINE void ask_ahead(const struct walk *walk, uint32_t edge)
{
    const uint32_t left = walk->edge_end - edge;
    if (left > walk->far + EDGES_INDEX)
        ask_for_index(walk, edge + walk->far + EDGES_INDEX);
    if (left > walk->far)
        ask_for_edge(walk, edge + walk->far, true);
    if (left > walk->near)
        ask_for_edge(walk, edge + walk->near, false);
}

CPU_INLINE struct walk start_walk(const struct mixing *mixing, const struct message_block *block,
                                  const struct input_rows *input, enum precision precision,
                                  uint32_t dim, uint32_t first, uint32_t end)
{
    const size_t row_bytes = dim * precision_bytes(precision);
    const uint32_t edge = block->row_start[first];
    const struct walk walk = {.mixing = mixing,
                              .block = block,
                              .input = input,
                              .precision = precision,
                              .dim = dim,
                              .end = end,
                              .edge_end = block->row_start[end],
                              .far = edges_in(BYTES_FAR, row_bytes),
                              .near = edges_in(BYTES_NEAR, row_bytes),
                              .row_bytes = row_bytes};
    for (uint32_t e = edge; e < walk.edge_end && e - edge < walk.far; e++)
        ask_for_edge(&walk, e, true);
    return walk;
}

CPU_INLINE void add_four_rows(float *restrict sum, const struct walk *walk, const uint32_t *row)
{
    const struct input_rows *input = walk->input;
    if (walk->precision == PRECISION_BF16)
        vector_add_four_bf16(sum, bf16_row(input, row[0]), bf16_row(input, row[1]),
                             bf16_row(input, row[2]), bf16_row(input, row[3]), walk->dim);
    else
        vector_add_four(sum, float_row(input, row[0]), float_row(input, row[1]),
                        float_row(input, row[2]), float_row(input, row[3]), walk->dim);
}

/* Adds the rows of the neighbours of i as they are. */
CPU_INLINE void add_neighbors(const struct walk *walk, uint32_t i, float *restrict sum)
{
    const uint32_t *neighbor = walk->block->neighbor;
    const uint32_t end = walk->block->row_start[i + 1];
    uint32_t e = walk->block->row_start[i];
    for (; end - e >= 4; e += 4) {
        for (uint32_t k = 0; k < 4; k++)
            ask_ahead(walk, e + k);
        add_four_rows(sum, walk, neighbor + e);
    }
    for (; e < end; e++) {
        ask_ahead(walk, e);
        add_row(sum, walk->input, walk->precision, neighbor[e], NULL, walk->dim);
    }
}

/* The same with a factor for each source, and without i itself where it stands apart. */
CPU_INLINE void add_scaled_neighbors(const struct walk *walk, uint32_t i, float *restrict sum)
{
    const struct mixing *mixing = walk->mixing;
    for (uint32_t e = walk->block->row_start[i]; e < walk->block->row_start[i + 1]; e++) {
        const uint32_t j = walk->block->neighbor[e];
        ask_ahead(walk, e);
        if (!mixing->skip_self_loops || j != i)
            add_row(sum, walk->input, walk->precision, j,
                    mixing->source_scale ? &mixing->source_scale[j] : NULL, walk->dim);
    }
}

/* The row of destination i, but for a second half. */
CPU_INLINE void sum_row(const struct walk *walk, uint32_t i, float *restrict sum)
{
    const struct mixing *mixing = walk->mixing;
    if (walk->end - i > ROWS_FAR)
        vector_prefetch_far(any_row(walk->input, walk->precision, i + ROWS_FAR), walk->row_bytes);
    if (walk->end - i > ROWS_NEAR)
        vector_prefetch(any_row(walk->input, walk->precision, i + ROWS_NEAR), walk->row_bytes);
    vector_zero(sum, walk->dim);
    if (!mixing->source_scale && !mixing->skip_self_loops)
        add_neighbors(walk, i, sum);
    else
        add_scaled_neighbors(walk, i, sum);
    vector_scale(sum, mixing->destination_scale[i], walk->dim);
    if (!mixing->self_beside && mixing->self_scale)
        add_row(sum, walk->input, walk->precision, i, &mixing->self_scale[i], walk->dim);
}

CPU_CLONES
static void gather_floats(const struct mixing *mixing, const struct message_block *block,
                          const struct input_rows *input, uint32_t dim, uint32_t first,
                          uint32_t end, float *out)
{
    const struct walk walk = start_walk(mixing, block, input, PRECISION_FP32, dim, first, end);
    const size_t width = mixing_width(mixing, dim);
    for (uint32_t i = first; i < end; i++, out += width) {
        sum_row(&walk, i, out);
        if (mixing->self_beside)
            vector_copy(out + dim, float_row(input, i), dim);
    }
}

CPU_CLONES
static void gather_bf16(const struct mixing *mixing, const struct message_block *block,
                        const struct input_rows *input, uint32_t dim, uint32_t first, uint32_t end,
                        float *sum, bf16 *out)
{
    const struct walk walk = start_walk(mixing, block, input, PRECISION_BF16, dim, first, end);
    const size_t width = mixing_width(mixing, dim), stride = bf16_stride(width);
    for (uint32_t i = first; i < end; i++, out += stride) {
        sum_row(&walk, i, sum);
        bf16_of_floats(out, sum, dim);
        if (mixing->self_beside)
            memcpy(out + dim, bf16_row(input, i), dim * sizeof *out);
        if (stride > width)
            out[width] = 0;
    }
}

void mixing_gather(const struct mixing *mixing, const struct message_block *block,
                   const struct input_rows *input, uint32_t dim, uint32_t first, uint32_t end,
                   float *scratch, void *out)
{
    if (input->precision == PRECISION_BF16)
        gather_bf16(mixing, block, input, dim, first, end, scratch, out);
    else
        gather_floats(mixing, block, input, dim, first, end, out);
}

CPU_CLONES
static void spread(const struct mixing *mixing, const struct transposed_edges *edges,
                   const float *gradient, uint32_t dim, uint32_t first, uint32_t end, float *out)
{
    const size_t width = mixing->self_beside ? 2 * (size_t)dim : dim;
    for (uint32_t j = first; j < end; j++, out += dim) {
        vector_zero(out, dim);
        for (uint32_t e = edges->start[j]; e < edges->start[j + 1]; e++) {
            const uint32_t i = edges->destination[e];
            vector_add_scaled(out, gradient + i * width, mixing->destination_scale[i], dim);
        }
        if (mixing->source_scale)
            vector_scale(out, mixing->source_scale[j], dim);
        if (j >= mixing->destination_count)
            continue;
        if (mixing->self_beside)
            vector_add(out, gradient + j * width + dim, dim);
        else if (mixing->self_scale)
            vector_add_scaled(out, gradient + j * width, mixing->self_scale[j], dim);
    }
}

void mixing_spread(const struct mixing *mixing, const struct transposed_edges *edges,
                   const float *gradient, uint32_t dim, uint32_t first, uint32_t end, float *out)
{
    spread(mixing, edges, gradient, dim, first, end, out);
}
