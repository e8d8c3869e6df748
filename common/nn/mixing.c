#include "common/nn/mixing.h"

#include "common/math/vector.h"

/* How far ahead of use rows are asked for: soon enough to hide memory, not so soon that they leave the cache
 * again. Counted in edges, so that rows of few neighbours and hubs are served alike. */
enum { FLOATS_FAR = 10240, FLOATS_NEAR = 1200, ROWS_FAR = 8, ROWS_NEAR = 1 };

CPU_INLINE uint32_t edges_in(uint32_t floats, uint32_t dim)
{
    return dim < floats ? floats / dim : 1;
}

CPU_INLINE const float *input_row(const struct input_rows *input, uint32_t row)
{
    const size_t at = input->row_index ? input->row_index[row] : row;
    return input->base + at * input->stride;
}

CPU_INLINE const float *neighbor_row(const struct message_block *block,
                                     const struct input_rows *input, uint32_t edge)
{
    return input_row(input, block->neighbor[edge]);
}

CPU_CLONES
static void gather(const struct mixing *mixing, const struct message_block *block,
                   const struct input_rows *input, uint32_t dim, uint32_t first, uint32_t end,
                   float *out)
{
    const size_t width = mixing->self_beside ? 2 * (size_t)dim : dim;
    const uint32_t far = edges_in(FLOATS_FAR, dim), near = edges_in(FLOATS_NEAR, dim);
    const uint32_t edge_end = block->row_start[end];
    for (uint32_t e = block->row_start[first]; e < edge_end && e - block->row_start[first] < far;
         e++)
        vector_prefetch_far(neighbor_row(block, input, e), dim);
    for (uint32_t i = first; i < end; i++, out += width) {
        if (end - i > ROWS_FAR)
            vector_prefetch_far(input_row(input, i + ROWS_FAR), dim);
        if (end - i > ROWS_NEAR)
            vector_prefetch(input_row(input, i + ROWS_NEAR), dim);
        vector_zero(out, dim);
        for (uint32_t e = block->row_start[i]; e < block->row_start[i + 1]; e++) {
            const uint32_t j = block->neighbor[e];
            if (edge_end - e > far)
                vector_prefetch_far(neighbor_row(block, input, e + far), dim);
            if (edge_end - e > near)
                vector_prefetch(neighbor_row(block, input, e + near), dim);
            if (mixing->skip_self_loops && j == i)
                continue;
            if (mixing->source_scale)
                vector_add_scaled(out, input_row(input, j), mixing->source_scale[j], dim);
            else
                vector_add(out, input_row(input, j), dim);
        }
        vector_scale(out, mixing->destination_scale[i], dim);
        if (mixing->self_beside)
            vector_copy(out + dim, input_row(input, i), dim);
        else if (mixing->self_scale)
            vector_add_scaled(out, input_row(input, i), mixing->self_scale[i], dim);
    }
}

void mixing_gather(const struct mixing *mixing, const struct message_block *block,
                   const struct input_rows *input, uint32_t dim, uint32_t first, uint32_t end,
                   float *out)
{
    gather(mixing, block, input, dim, first, end, out);
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
