#include "common/nn/operators/aggregation_max.h"

#include "common/math/vector.h"
#include "common/nn/operators/aggregation_walk.h"

/* Marks a destination that has no edge. */
static const uint32_t none = UINT32_MAX;

/* Keeps the first of equal values. A NaN replaces the maximum and stays, so that the loss
 * becomes NaN and the error is noticed. */
CPU_INLINE void take_greater(float *restrict most, uint32_t *restrict greatest,
                             const float *restrict x, float scale, uint32_t edge, uint32_t dim)
{
    for (uint32_t c = 0; c < dim; c++) {
        const float value = scale * x[c];
        const bool is_greater = value > most[c] || value != value;
        most[c] = is_greater ? value : most[c];
        greatest[c] = is_greater ? edge : greatest[c];
    }
}

CPU_INLINE void take_greater_bf16(float *restrict most, uint32_t *restrict greatest,
                                  const bf16 *restrict x, float scale, uint32_t edge, uint32_t dim)
{
    for (uint32_t c = 0; c < dim; c++) {
        const float value = scale * bf16_to_float(x[c]);
        const bool is_greater = value > most[c] || value != value;
        most[c] = is_greater ? value : most[c];
        greatest[c] = is_greater ? edge : greatest[c];
    }
}

/* Computes the row of destination i, without a second half. */
CPU_INLINE void find_greatest(const struct walk *walk, uint32_t i, float *restrict most)
{
    const struct aggregation *aggregation = walk->aggregation;
    const uint32_t begin = walk->block->row_start[i], end = walk->block->row_start[i + 1];
    uint32_t *greatest = aggregation->greatest + (size_t)i * walk->dim;
    ask_for_own_rows(walk, i);
    for (uint32_t c = 0; c < walk->dim; c++) {
        most[c] = begin < end ? -__builtin_inff() : 0;
        greatest[c] = none;
    }
    for (uint32_t e = begin; e < end; e++) {
        const uint32_t j = walk->block->neighbor[e];
        const float scale = aggregation->edge_value ? aggregation->edge_value[e] : 1;
        ask_ahead(walk, e);
        if (walk->precision == PRECISION_BF16)
            take_greater_bf16(most, greatest, bf16_row(&walk->input, j), scale, e, walk->dim);
        else
            take_greater(most, greatest, float_row(&walk->input, j), scale, e, walk->dim);
    }
}

CPU_KERNEL(greatest_floats,
           (const struct aggregation *aggregation, const struct message_block *block,
            const struct input_rows *input, uint32_t dim, uint32_t first, uint32_t end, float *out),
           (aggregation, block, input, dim, first, end, out))
{
    const struct walk walk = start_walk(aggregation, block, input, PRECISION_FP32, dim, first, end);
    const size_t width = aggregation_width(aggregation, dim);
    for (uint32_t i = first; i < end; i++, out += width) {
        find_greatest(&walk, i, out);
        if (aggregation->self_beside)
            vector_copy(out + dim, float_row(input, i), dim);
    }
}

CPU_KERNEL(greatest_bf16,
           (const struct aggregation *aggregation, const struct message_block *block,
            const struct input_rows *input, uint32_t dim, uint32_t first, uint32_t end, float *most,
            bf16 *out),
           (aggregation, block, input, dim, first, end, most, out))
{
    const struct walk walk = start_walk(aggregation, block, input, PRECISION_BF16, dim, first, end);
    const size_t stride = bf16_stride(aggregation_width(aggregation, dim));
    for (uint32_t i = first; i < end; i++, out += stride) {
        find_greatest(&walk, i, most);
        finish_bf16(&walk, i, most, out);
    }
}

void aggregation_max_forward(const struct aggregation *aggregation,
                             const struct message_block *block, const struct input_rows *input,
                             uint32_t dim, uint32_t first, uint32_t end, float *scratch, void *out)
{
    must(!aggregation->self_scale && !aggregation->source_scale && !aggregation->skip_self_loops);
    if (input->precision == PRECISION_BF16)
        greatest_bf16(aggregation, block, input, dim, first, end, scratch, out);
    else
        greatest_floats(aggregation, block, input, dim, first, end, out);
}

CPU_INLINE void take_greater_value(float *restrict most, const float *restrict x, float scale,
                                   uint32_t dim)
{
    for (uint32_t c = 0; c < dim; c++) {
        const float value = scale * x[c];
        most[c] = value > most[c] || value != value ? value : most[c];
    }
}

CPU_KERNEL(add_greatest_floats,
           (const struct aggregation *aggregation, const struct message_block *block,
            const struct input_rows *input, uint32_t dim, uint32_t first, uint32_t end,
            float *most),
           (aggregation, block, input, dim, first, end, most))
{
    const struct walk walk = start_walk(aggregation, block, input, PRECISION_FP32, dim, first, end);
    for (uint32_t i = first; i < end; i++)
        for (uint32_t e = block->row_start[i]; e < block->row_start[i + 1]; e++) {
            ask_ahead(&walk, e);
            take_greater_value(most + (size_t)i * dim, float_row(input, block->neighbor[e]),
                               aggregation->edge_value ? aggregation->edge_value[e] : 1, dim);
        }
}

void aggregation_max_add(const struct aggregation *aggregation, const struct message_block *block,
                         const struct input_rows *input, uint32_t dim, uint32_t first, uint32_t end,
                         float *most)
{
    add_greatest_floats(aggregation, block, input, dim, first, end, most);
}

/* Adds the gradient in the columns in which edge e had the maximum. */
CPU_INLINE void add_where_greatest(float *restrict sum, const float *restrict gradient,
                                   const uint32_t *restrict greatest, uint32_t edge, float scale,
                                   uint32_t dim)
{
    for (uint32_t c = 0; c < dim; c++)
        sum[c] += greatest[c] == edge ? scale * gradient[c] : 0;
}

CPU_KERNEL(add_greatest,
           (const struct aggregation *aggregation, const struct transposed_edges *edges,
            const float *gradient, uint32_t dim, uint32_t first, uint32_t end, float *out),
           (aggregation, edges, gradient, dim, first, end, out))
{
    const size_t width = aggregation_width(aggregation, dim);
    for (uint32_t j = first; j < end; j++, out += dim) {
        vector_zero(out, dim);
        for (uint32_t at = edges->start[j]; at < edges->start[j + 1]; at++) {
            const uint32_t i = edges->destination[at], e = edges->edge[at];
            add_where_greatest(out, gradient + i * width, aggregation->greatest + (size_t)i * dim,
                               e, aggregation->edge_value ? aggregation->edge_value[e] : 1, dim);
        }
        if (aggregation->self_beside && j < aggregation->destination_count)
            vector_add(out, gradient + j * width + dim, dim);
    }
}

void aggregation_max_backward(const struct aggregation *aggregation,
                              const struct transposed_edges *edges, const float *gradient,
                              uint32_t dim, uint32_t first, uint32_t end, float *out)
{
    add_greatest(aggregation, edges, gradient, dim, first, end, out);
}
