#include "common/nn/mixing.h"

#include "common/base/cpu_level.h"
#include "common/math/vector.h"
#include "common/nn/mixing_avx512.h"
#include "common/nn/mixing_walk.h"

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

CPU_INLINE void add_four_rows(float *restrict sum, const struct walk *walk, const uint32_t *row)
{
    const struct input_rows *input = &walk->input;
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
        add_row(sum, &walk->input, walk->precision, neighbor[e], NULL, walk->dim);
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
            add_row(sum, &walk->input, walk->precision, j,
                    mixing->source_scale ? &mixing->source_scale[j] : NULL, walk->dim);
    }
}

/* The row of destination i, but for a second half. */
CPU_INLINE void sum_row(const struct walk *walk, uint32_t i, float *restrict sum)
{
    const struct mixing *mixing = walk->mixing;
    ask_for_own_rows(walk, i);
    vector_zero(sum, walk->dim);
    if (!mixing->source_scale && !mixing->skip_self_loops)
        add_neighbors(walk, i, sum);
    else
        add_scaled_neighbors(walk, i, sum);
    vector_scale(sum, mixing->destination_scale[i], walk->dim);
    if (!mixing->self_beside && mixing->self_scale)
        add_row(sum, &walk->input, walk->precision, i, &mixing->self_scale[i], walk->dim);
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
    const size_t stride = bf16_stride(mixing_width(mixing, dim));
    for (uint32_t i = first; i < end; i++, out += stride) {
        sum_row(&walk, i, sum);
        finish_bf16(&walk, i, sum, out);
    }
}

#if CPU_LEVEL_X86
static bool uses_registers(uint32_t dim)
{
    return dim >= MIXING_AVX512_DIM_MIN && cpu_level() == CPU_AVX512;
}
#endif

void mixing_gather(const struct mixing *mixing, const struct message_block *block,
                   const struct input_rows *input, uint32_t dim, uint32_t first, uint32_t end,
                   float *scratch, void *out)
{
#if CPU_LEVEL_X86
    if (uses_registers(dim)) {
        mixing_gather_avx512(mixing, block, input, dim, first, end, scratch, out);
        return;
    }
#endif
    if (input->precision == PRECISION_BF16)
        gather_bf16(mixing, block, input, dim, first, end, scratch, out);
    else
        gather_floats(mixing, block, input, dim, first, end, out);
}

CPU_CLONES
static void spread(const struct mixing *mixing, const struct transposed_edges *edges,
                   const float *gradient, uint32_t dim, uint32_t first, uint32_t end, float *out)
{
    const size_t width = mixing_width(mixing, dim);
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
#if CPU_LEVEL_X86
    if (uses_registers(dim)) {
        mixing_spread_avx512(mixing, edges, gradient, dim, first, end, out);
        return;
    }
#endif
    spread(mixing, edges, gradient, dim, first, end, out);
}
