#include "common/nn/mixing.h"

#include "common/math/vector.h"

/* How many rows ahead of use neighbours are asked for: far enough to hide memory, not so far that they
 * leave the first cache again. */
CPU_INLINE uint32_t rows_ahead(uint32_t dim)
{
    return dim <= 128 ? 4 : 1;
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

CPU_INLINE void prefetch_row(const struct input_rows *input, enum precision precision, uint32_t dim,
                             uint32_t row)
{
    if (precision == PRECISION_BF16)
        vector_prefetch(bf16_row(input, row), dim * sizeof(bf16));
    else
        vector_prefetch(float_row(input, row), dim * sizeof(float));
}

CPU_INLINE void prefetch_inputs(const struct message_block *block, const struct input_rows *input,
                                enum precision precision, uint32_t dim, uint32_t i)
{
    prefetch_row(input, precision, dim, i);
    for (uint32_t e = block->row_start[i]; e < block->row_start[i + 1]; e++)
        prefetch_row(input, precision, dim, block->neighbor[e]);
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

/* The row of destination i but for its second half. */
CPU_INLINE void sum_neighbours(const struct mixing *mixing, const struct message_block *block,
                               const struct input_rows *input, enum precision precision,
                               uint32_t dim, uint32_t i, float *restrict sum)
{
    vector_zero(sum, dim);
    for (uint32_t e = block->row_start[i]; e < block->row_start[i + 1]; e++) {
        const uint32_t j = block->neighbor[e];
        if (mixing->skip_self_loops && j == i)
            continue;
        add_row(sum, input, precision, j, mixing->source_scale ? &mixing->source_scale[j] : NULL,
                dim);
    }
    vector_scale(sum, mixing->destination_scale[i], dim);
    if (!mixing->self_beside)
        add_row(sum, input, precision, i, &mixing->self_scale[i], dim);
}

CPU_CLONES
static void gather_floats(const struct mixing *mixing, const struct message_block *block,
                          const struct input_rows *input, uint32_t dim, uint32_t first,
                          uint32_t end, float *out)
{
    const size_t width = mixing_width(mixing, dim);
    for (uint32_t i = first; i < end; i++, out += width) {
        if (end - i > rows_ahead(dim))
            prefetch_inputs(block, input, PRECISION_FP32, dim, i + rows_ahead(dim));
        sum_neighbours(mixing, block, input, PRECISION_FP32, dim, i, out);
        if (mixing->self_beside)
            vector_copy(out + dim, float_row(input, i), dim);
    }
}

CPU_CLONES
static void gather_bf16(const struct mixing *mixing, const struct message_block *block,
                        const struct input_rows *input, uint32_t dim, uint32_t first, uint32_t end,
                        float *sum, bf16 *out)
{
    const size_t width = mixing_width(mixing, dim), stride = bf16_stride(width);
    for (uint32_t i = first; i < end; i++, out += stride) {
        if (end - i > rows_ahead(dim))
            prefetch_inputs(block, input, PRECISION_BF16, dim, i + rows_ahead(dim));
        sum_neighbours(mixing, block, input, PRECISION_BF16, dim, i, sum);
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
        else
            vector_add_scaled(out, gradient + j * width, mixing->self_scale[j], dim);
    }
}

void mixing_spread(const struct mixing *mixing, const struct transposed_edges *edges,
                   const float *gradient, uint32_t dim, uint32_t first, uint32_t end, float *out)
{
    spread(mixing, edges, gradient, dim, first, end, out);
}
