#include "common/nn/operators/slot_aggregation.h"

#include "common/math/vector.h"
#include "common/nn/operators/aggregation_walk.h"

CPU_INLINE void add_by_head(const struct edge_shape *shape, float *restrict sum, const float *x,
                            const float *weight)
{
    const size_t channels = shape->channels;
    for (size_t h = 0; h < shape->heads; h++)
        vector_add_scaled(sum + h * channels, x + h * channels, weight[h], channels);
}

CPU_KERNEL(sum_slots_of_destinations,
           (const struct edge_shape *shape, const float *weight, const float *x, uint32_t first,
            uint32_t end, float *y),
           (shape, weight, x, first, end, y))
{
    const struct message_block *block = &shape->block;
    const size_t heads = shape->heads, width = heads * shape->channels;
    const struct input_rows rows = {.base = x, .stride = width};
    const struct walk walk =
        start_walk(NULL, block, &rows, PRECISION_FP32, (uint32_t)width, first, end);
    for (uint32_t i = first; i < end; i++, y += width) {
        ask_for_own_rows(&walk, i);
        vector_zero(y, width);
        for (uint32_t e = block->row_start[i]; e < block->row_start[i + 1]; e++, weight += heads) {
            ask_ahead(&walk, e);
            if (block->neighbor[e] != i || block->is_bipartite)
                add_by_head(shape, y, x + block->neighbor[e] * width, weight);
        }
        if (block->is_bipartite)
            continue;
        add_by_head(shape, y, x + i * width, weight);
        weight += heads;
    }
}

void slot_aggregation_forward(const struct edge_shape *shape, const float *weight, const float *x,
                              uint32_t first, uint32_t end, float *y)
{
    sum_slots_of_destinations(shape, weight + edge_slot(&shape->block, first) * shape->heads, x,
                              first, end, y);
}

CPU_KERNEL(sum_slots_of_sources,
           (const struct edge_shape *shape, const struct transposed_edges *edges,
            const float *weight, const float *dy, uint32_t first, uint32_t end, float *dx),
           (shape, edges, weight, dy, first, end, dx))
{
    const struct message_block *block = &shape->block;
    const size_t heads = shape->heads, width = heads * shape->channels;
    for (uint32_t j = first; j < end; j++, dx += width) {
        vector_zero(dx, width);
        for (uint32_t e = edges->start[j]; e < edges->start[j + 1]; e++) {
            const uint32_t i = edges->destination[e];
            edge_slots_ask_ahead(edges, edges->start[end], e, dy, width);
            add_by_head(shape, dx, dy + i * width,
                        weight + edge_slot_of_edge(block, i, edges->edge[e]) * heads);
        }
        if (j < block->destination_count && !block->is_bipartite)
            add_by_head(shape, dx, dy + j * width, weight + edge_slot_of_self(block, j) * heads);
    }
}

void slot_aggregation_backward(const struct edge_shape *shape, const struct transposed_edges *edges,
                               const float *weight, const float *dy, uint32_t first, uint32_t end,
                               float *dx)
{
    sum_slots_of_sources(shape, edges, weight, dy, first, end, dx);
}

/* Adds a row, multiplied by four weights, to the sums of four heads. The row is loaded only
 * once. */
CPU_INLINE void add_to_four_heads(float *restrict sum, const float *restrict x, const float *weight,
                                  size_t dim)
{
    float *restrict second = sum + dim, *restrict third = sum + 2 * dim;
    float *restrict fourth = sum + 3 * dim;
    for (size_t c = 0; c < dim; c++) {
        sum[c] = vector_multiply_add(weight[0], x[c], sum[c]);
        second[c] = vector_multiply_add(weight[1], x[c], second[c]);
        third[c] = vector_multiply_add(weight[2], x[c], third[c]);
        fourth[c] = vector_multiply_add(weight[3], x[c], fourth[c]);
    }
}

CPU_INLINE void add_to_heads(float *sum, const float *x, const float *weight, size_t heads,
                             size_t dim)
{
    size_t h = 0;
    for (; heads - h >= 4; h += 4)
        add_to_four_heads(sum + h * dim, x, weight + h, dim);
    for (; h < heads; h++)
        vector_add_scaled(sum + h * dim, x, weight[h], dim);
}

CPU_KERNEL(sum_shared_rows,
           (const struct edge_shape *shape, const float *weight, const struct input_rows *x,
            uint32_t dim, uint32_t first, uint32_t end, float *y),
           (shape, weight, x, dim, first, end, y))
{
    const struct message_block *block = &shape->block;
    const size_t heads = shape->heads;
    const struct walk walk = start_walk(NULL, block, x, PRECISION_FP32, dim, first, end);
    for (uint32_t i = first; i < end; i++, y += heads * dim) {
        ask_for_own_rows(&walk, i);
        vector_zero(y, heads * dim);
        for (uint32_t e = block->row_start[i]; e < block->row_start[i + 1]; e++, weight += heads) {
            ask_ahead(&walk, e);
            if (block->neighbor[e] != i || block->is_bipartite)
                add_to_heads(y, float_row(x, block->neighbor[e]), weight, heads, dim);
        }
        if (block->is_bipartite)
            continue;
        add_to_heads(y, float_row(x, i), weight, heads, dim);
        weight += heads;
    }
}

void slot_aggregation_shared_forward(const struct edge_shape *shape, const float *weight,
                                     const struct input_rows *x, uint32_t dim, uint32_t first,
                                     uint32_t end, float *y)
{
    sum_shared_rows(shape, weight + edge_slot(&shape->block, first) * shape->heads, x, dim, first,
                    end, y);
}

CPU_KERNEL(add_shared_rows,
           (const struct input_rows *x, const uint32_t *source, const float *weight, uint32_t count,
            size_t heads, uint32_t dim, float *y),
           (x, source, weight, count, heads, dim, y))
{
    for (uint32_t k = 0; k < count; k++)
        add_to_heads(y, float_row(x, source[k]), weight + k * heads, heads, dim);
}

void slot_aggregation_shared_add(const struct input_rows *x, const uint32_t *source,
                                 const float *weight, uint32_t count, size_t heads, uint32_t dim,
                                 float *y)
{
    add_shared_rows(x, source, weight, count, heads, dim, y);
}

CPU_INLINE void add_all_heads(float *restrict sum, const float *dy, const float *weight,
                              size_t heads, size_t dim)
{
    for (size_t h = 0; h < heads; h++)
        vector_add_scaled(sum, dy + h * dim, weight[h], dim);
}

CPU_KERNEL(sum_shared_slots_of_sources,
           (const struct edge_shape *shape, const struct transposed_edges *edges,
            const float *weight, const float *dy, uint32_t dim, uint32_t first, uint32_t end,
            float *dx),
           (shape, edges, weight, dy, dim, first, end, dx))
{
    const struct message_block *block = &shape->block;
    const size_t heads = shape->heads, width = heads * dim;
    for (uint32_t j = first; j < end; j++, dx += dim) {
        vector_zero(dx, dim);
        for (uint32_t e = edges->start[j]; e < edges->start[j + 1]; e++) {
            const uint32_t i = edges->destination[e];
            edge_slots_ask_ahead(edges, edges->start[end], e, dy, width);
            add_all_heads(dx, dy + i * width,
                          weight + edge_slot_of_edge(block, i, edges->edge[e]) * heads, heads, dim);
        }
        if (j < block->destination_count && !block->is_bipartite)
            add_all_heads(dx, dy + j * width, weight + edge_slot_of_self(block, j) * heads, heads,
                          dim);
    }
}

void slot_aggregation_shared_backward(const struct edge_shape *shape,
                                      const struct transposed_edges *edges, const float *weight,
                                      const float *dy, uint32_t dim, uint32_t first, uint32_t end,
                                      float *dx)
{
    sum_shared_slots_of_sources(shape, edges, weight, dy, dim, first, end, dx);
}
