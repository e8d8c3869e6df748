#include "common/nn/operators/aggregation.h"

#include "common/math/vector.h"
#include "common/nn/operators/aggregation_avx512.h"
#include "common/nn/operators/aggregation_max.h"
#include "common/nn/operators/aggregation_walk.h"
#include "common/numbers/cpu_level.h"

enum { SUMS_AHEAD = 2 }; /* how many rows of sums ahead are prefetched */

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

/* Adds the rows of the neighbours of i without factors. */
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

/* Adds the rows with a factor for each source. Skips i itself if self_scale replaces self-loops. */
CPU_INLINE void add_scaled_neighbors(const struct walk *walk, uint32_t i, float *restrict sum)
{
    const struct aggregation *aggregation = walk->aggregation;
    for (uint32_t e = walk->block->row_start[i]; e < walk->block->row_start[i + 1]; e++) {
        const uint32_t j = walk->block->neighbor[e];
        ask_ahead(walk, e);
        if (!aggregation->skip_self_loops || j != i)
            add_row(sum, &walk->input, walk->precision, j,
                    aggregation->source_scale ? &aggregation->source_scale[j] : NULL, walk->dim);
    }
}

/* Adds the rows with a factor for each edge. */
CPU_INLINE void add_valued_neighbors(const struct walk *walk, uint32_t i, float *restrict sum)
{
    const struct aggregation *aggregation = walk->aggregation;
    for (uint32_t e = walk->block->row_start[i]; e < walk->block->row_start[i + 1]; e++) {
        const uint32_t j = walk->block->neighbor[e];
        const float scale = aggregation_edge_scale(aggregation, e, j);
        ask_ahead(walk, e);
        if (!aggregation->skip_self_loops || j != i)
            add_row(sum, &walk->input, walk->precision, j, &scale, walk->dim);
    }
}

CPU_INLINE void add_all_neighbors(const struct walk *walk, uint32_t i, float *restrict sum)
{
    const struct aggregation *aggregation = walk->aggregation;
    if (aggregation->edge_value)
        add_valued_neighbors(walk, i, sum);
    else if (!aggregation->source_scale && !aggregation->skip_self_loops)
        add_neighbors(walk, i, sum);
    else
        add_scaled_neighbors(walk, i, sum);
}

/* Computes the row of destination i, without a second half. */
CPU_INLINE void sum_row(const struct walk *walk, uint32_t i, float *restrict sum)
{
    const struct aggregation *aggregation = walk->aggregation;
    ask_for_own_rows(walk, i);
    vector_zero(sum, walk->dim);
    add_all_neighbors(walk, i, sum);
    vector_scale(sum, aggregation->destination_scale[i], walk->dim);
    if (!aggregation->self_beside && aggregation->self_scale)
        add_row(sum, &walk->input, walk->precision, i, &aggregation->self_scale[i], walk->dim);
}

CPU_KERNEL(gather_floats,
           (const struct aggregation *aggregation, const struct message_block *block,
            const struct input_rows *input, uint32_t dim, uint32_t first, uint32_t end, float *out),
           (aggregation, block, input, dim, first, end, out))
{
    const struct walk walk = start_walk(aggregation, block, input, PRECISION_FP32, dim, first, end);
    const size_t width = aggregation_width(aggregation, dim);
    for (uint32_t i = first; i < end; i++, out += width) {
        sum_row(&walk, i, out);
        if (aggregation->self_beside)
            vector_copy(out + dim, float_row(input, i), dim);
    }
}

CPU_KERNEL(gather_bf16,
           (const struct aggregation *aggregation, const struct message_block *block,
            const struct input_rows *input, uint32_t dim, uint32_t first, uint32_t end, float *sum,
            bf16 *out),
           (aggregation, block, input, dim, first, end, sum, out))
{
    const struct walk walk = start_walk(aggregation, block, input, PRECISION_BF16, dim, first, end);
    const size_t stride = bf16_stride(aggregation_width(aggregation, dim));
    for (uint32_t i = first; i < end; i++, out += stride) {
        sum_row(&walk, i, sum);
        finish_bf16(&walk, i, sum, out);
    }
}

#if CPU_LEVEL_X86
static bool uses_registers(uint32_t dim)
{
    return dim >= AGGREGATION_AVX512_DIM_MIN && cpu_level() >= CPU_AVX512;
}
#endif

void aggregation_forward(const struct aggregation *aggregation, const struct message_block *block,
                         const struct input_rows *input, uint32_t dim, uint32_t first, uint32_t end,
                         float *scratch, void *out)
{
    if (aggregation->sum) {
        aggregation_finish(aggregation, input, dim, first, end,
                           aggregation->sum + (size_t)first * dim, out);
        return;
    }
    if (aggregation->greatest) {
        aggregation_max_forward(aggregation, block, input, dim, first, end, scratch, out);
        return;
    }
#if CPU_LEVEL_X86
    if (uses_registers(dim)) {
        aggregation_forward_avx512(aggregation, block, input, dim, first, end, scratch, out);
        return;
    }
#endif
    if (input->precision == PRECISION_BF16)
        gather_bf16(aggregation, block, input, dim, first, end, scratch, out);
    else
        gather_floats(aggregation, block, input, dim, first, end, out);
}

/* Adds the gradients of the destinations that have j as a neighbour. */
CPU_INLINE void add_destinations_of(const struct aggregation *aggregation,
                                    const struct transposed_edges *edges, const float *gradient,
                                    uint32_t dim, uint32_t j, float *restrict sum)
{
    const size_t width = aggregation_width(aggregation, dim);
    for (uint32_t e = edges->start[j]; e < edges->start[j + 1]; e++) {
        const uint32_t i = edges->destination[e];
        vector_add_scaled(sum, gradient + i * width, aggregation->destination_scale[i], dim);
    }
}

CPU_INLINE void add_valued_destinations_of(const struct aggregation *aggregation,
                                           const struct transposed_edges *edges,
                                           const float *gradient, uint32_t dim, uint32_t j,
                                           float *restrict sum)
{
    const size_t width = aggregation_width(aggregation, dim);
    for (uint32_t e = edges->start[j]; e < edges->start[j + 1]; e++) {
        const uint32_t i = edges->destination[e];
        vector_add_scaled(
            sum, gradient + i * width,
            aggregation->destination_scale[i] * aggregation->edge_value[edges->edge[e]], dim);
    }
}

CPU_KERNEL(add_edges,
           (const struct aggregation *aggregation, const struct message_block *block,
            const struct input_rows *input, uint32_t dim, uint32_t first, uint32_t end, float *sum),
           (aggregation, block, input, dim, first, end, sum))
{
    const struct walk walk = start_walk(aggregation, block, input, PRECISION_FP32, dim, first, end);
    for (uint32_t i = first; i < end; i++) {
        if (end - i > SUMS_AHEAD &&
            block->row_start[i + SUMS_AHEAD] < block->row_start[i + SUMS_AHEAD + 1])
            vector_prefetch(sum + (size_t)(i + SUMS_AHEAD) * dim, dim * sizeof *sum);
        add_all_neighbors(&walk, i, sum + (size_t)i * dim);
    }
}

void aggregation_add(const struct aggregation *aggregation, const struct message_block *block,
                     const struct input_rows *input, uint32_t dim, uint32_t first, uint32_t end,
                     float *sum)
{
    struct aggregation part = *aggregation;
    must(input->precision == PRECISION_FP32);
    /* i is not an index of these sources, so the caller leaves out self-loops */
    part.skip_self_loops = false;
    if (aggregation->greatest)
        aggregation_max_add(aggregation, block, input, dim, first, end, sum);
    else
        add_edges(&part, block, input, dim, first, end, sum);
}

CPU_KERNEL(finish_sums,
           (const struct aggregation *aggregation, const struct input_rows *own, uint32_t dim,
            uint32_t first, uint32_t end, const float *sum, float *out),
           (aggregation, own, dim, first, end, sum, out))
{
    const size_t width = aggregation_width(aggregation, dim);
    for (uint32_t i = first; i < end; i++, sum += dim, out += width) {
        vector_copy(out, sum, dim);
        if (!aggregation->greatest)
            vector_scale(out, aggregation->destination_scale[i], dim);
        if (aggregation->self_beside)
            vector_copy(out + dim, float_row(own, i), dim);
        else if (aggregation->self_scale)
            vector_add_scaled(out, float_row(own, i), aggregation->self_scale[i], dim);
    }
}

void aggregation_finish(const struct aggregation *aggregation, const struct input_rows *own,
                        uint32_t dim, uint32_t first, uint32_t end, const float *sum, float *out)
{
    must(own->precision == PRECISION_FP32);
    finish_sums(aggregation, own, dim, first, end, sum, out);
}

CPU_KERNEL(add_destinations,
           (const struct aggregation *aggregation, const struct transposed_edges *edges,
            const float *gradient, uint32_t dim, uint32_t first, uint32_t end, float *out),
           (aggregation, edges, gradient, dim, first, end, out))
{
    const size_t width = aggregation_width(aggregation, dim);
    for (uint32_t j = first; j < end; j++, out += dim) {
        vector_zero(out, dim);
        if (aggregation->edge_value)
            add_valued_destinations_of(aggregation, edges, gradient, dim, j, out);
        else
            add_destinations_of(aggregation, edges, gradient, dim, j, out);
        if (aggregation->source_scale)
            vector_scale(out, aggregation->source_scale[j], dim);
        if (j >= aggregation->destination_count)
            continue;
        if (aggregation->self_beside)
            vector_add(out, gradient + j * width + dim, dim);
        else if (aggregation->self_scale)
            vector_add_scaled(out, gradient + j * width, aggregation->self_scale[j], dim);
    }
}

void aggregation_backward(const struct aggregation *aggregation,
                          const struct transposed_edges *edges, const float *gradient, uint32_t dim,
                          uint32_t first, uint32_t end, float *out)
{
    if (aggregation->greatest) {
        aggregation_max_backward(aggregation, edges, gradient, dim, first, end, out);
        return;
    }
#if CPU_LEVEL_X86
    if (uses_registers(dim)) {
        aggregation_backward_avx512(aggregation, edges, gradient, dim, first, end, out);
        return;
    }
#endif
    add_destinations(aggregation, edges, gradient, dim, first, end, out);
}
