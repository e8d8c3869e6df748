#include "common/nn/operators/slot_aggregation.h"

#include "common/math/vector.h"

CPU_INLINE void add_by_head(const struct edge_shape *shape, float *restrict sum, const float *x,
                            const float *weight)
{
    const size_t channels = shape->channels;
    for (size_t h = 0; h < shape->heads; h++)
        vector_add_scaled(sum + h * channels, x + h * channels, weight[h], channels);
}

CPU_KERNEL(sum_slots_of_destination,
           (const struct edge_shape *shape, const float *weight, const float *x, uint32_t i,
            float *y),
           (shape, weight, x, i, y))
{
    const size_t width = (size_t)shape->heads * shape->channels;
    vector_zero(y, width);
    for (uint32_t k = 0; k < edge_slots_of(&shape->block, i); k++)
        if (!edge_slot_is_replaced(&shape->block, i, k))
            add_by_head(shape, y, x + edge_slot_source(&shape->block, i, k) * width,
                        weight + (size_t)k * shape->heads);
}

void slot_aggregation_forward(const struct edge_shape *shape, const float *weight, const float *x,
                              uint32_t first, uint32_t end, float *y)
{
    const size_t width = (size_t)shape->heads * shape->channels;
    for (uint32_t i = first; i < end; i++, y += width)
        sum_slots_of_destination(shape, weight + edge_slot(&shape->block, i) * shape->heads, x, i,
                                 y);
}

CPU_KERNEL(sum_slots_of_source,
           (const struct edge_shape *shape, const struct transposed_edges *edges,
            const float *weight, const float *dy, uint32_t j, float *dx),
           (shape, edges, weight, dy, j, dx))
{
    const struct message_block *block = &shape->block;
    const size_t heads = shape->heads, width = heads * shape->channels;
    vector_zero(dx, width);
    for (uint32_t e = edges->start[j]; e < edges->start[j + 1]; e++) {
        const uint32_t i = edges->destination[e];
        add_by_head(shape, dx, dy + i * width,
                    weight + edge_slot_of_edge(block, i, edges->edge[e]) * heads);
    }
    if (j < block->destination_count)
        add_by_head(shape, dx, dy + j * width, weight + edge_slot_of_self(block, j) * heads);
}

void slot_aggregation_backward(const struct edge_shape *shape, const struct transposed_edges *edges,
                               const float *weight, const float *dy, uint32_t first, uint32_t end,
                               float *dx)
{
    const size_t width = (size_t)shape->heads * shape->channels;
    for (uint32_t j = first; j < end; j++, dx += width)
        sum_slots_of_source(shape, edges, weight, dy, j, dx);
}
