#include "common/nn/mixing.h"

#include "common/math/vector.h"

/* How many rows ahead of use neighbours are asked for: far enough to hide memory, not so far that they
 * leave the first cache again. */
CPU_INLINE uint32_t rows_ahead(uint32_t dim)
{
    return dim <= 128 ? 4 : 1;
}

CPU_INLINE const float *input_row(const struct input_rows *input, uint32_t row)
{
    const size_t at = input->row_index ? input->row_index[row] : row;
    return input->base + at * input->stride;
}

CPU_INLINE void prefetch_inputs(const struct message_block *block, const struct input_rows *input,
                                uint32_t dim, uint32_t i)
{
    vector_prefetch(input_row(input, i), dim);
    for (uint32_t e = block->row_start[i]; e < block->row_start[i + 1]; e++)
        vector_prefetch(input_row(input, block->neighbor[e]), dim);
}

CPU_CLONES
static void gather(const struct mixing *mixing, const struct message_block *block,
                   const struct input_rows *input, uint32_t dim, uint32_t first, uint32_t end,
                   float *out)
{
    const size_t width = mixing->self_beside ? 2 * (size_t)dim : dim;
    for (uint32_t i = first; i < end; i++, out += width) {
        if (end - i > rows_ahead(dim))
            prefetch_inputs(block, input, dim, i + rows_ahead(dim));
        vector_zero(out, dim);
        for (uint32_t e = block->row_start[i]; e < block->row_start[i + 1]; e++) {
            const uint32_t j = block->neighbor[e];
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
        else
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
        else
            vector_add_scaled(out, gradient + j * width, mixing->self_scale[j], dim);
    }
}

void mixing_spread(const struct mixing *mixing, const struct transposed_edges *edges,
                   const float *gradient, uint32_t dim, uint32_t first, uint32_t end, float *out)
{
    spread(mixing, edges, gradient, dim, first, end, out);
}
