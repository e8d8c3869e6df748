#include "common/nn/operators/edge_score.h"

#include "common/math/vector.h"
#include "common/nn/operators/aggregation_walk.h"

static float leaky(float x)
{
    return x > 0 ? x : EDGE_SCORE_SLOPE * x;
}

/* Returns the argument of leaky() for slot `at`, from source j to destination i. */
static inline float sum_of_terms(float source, float destination, const float *edge, size_t at)
{
    const float sum = source + destination;
    return edge ? sum + edge[at] : sum;
}

void edge_score_add(const struct edge_shape *shape, const float *source, const float *destination,
                    const float *edge, uint32_t first, uint32_t end, float *score)
{
    const size_t heads = shape->heads;
    for (uint32_t i = first; i < end; i++) {
        size_t at = edge_slot(&shape->block, i) * heads;
        for (uint32_t k = 0; k < edge_slots_of(&shape->block, i); k++) {
            const float *a = source + edge_slot_source(&shape->block, i, k) * heads;
            for (size_t h = 0; h < heads; h++, at++)
                score[at] = leaky(sum_of_terms(a[h], destination[i * heads + h], edge, at));
        }
    }
}

void edge_score_add_backward(const struct edge_shape *shape, const float *source,
                             const float *destination, const float *edge, uint32_t first,
                             uint32_t end, float *gradient, float *destination_gradient)
{
    const size_t heads = shape->heads;
    for (uint32_t i = first; i < end; i++) {
        float *sum = destination_gradient + i * heads;
        size_t at = edge_slot(&shape->block, i) * heads;
        vector_zero(sum, heads);
        for (uint32_t k = 0; k < edge_slots_of(&shape->block, i); k++) {
            const float *a = source + edge_slot_source(&shape->block, i, k) * heads;
            for (size_t h = 0; h < heads; h++, at++) {
                if (!(sum_of_terms(a[h], destination[i * heads + h], edge, at) > 0))
                    gradient[at] *= EDGE_SCORE_SLOPE;
                sum[h] += gradient[at];
            }
        }
    }
}

void edge_score_add_transposed(const struct edge_shape *shape, const struct transposed_edges *edges,
                               const float *gradient, uint32_t first, uint32_t end,
                               float *source_gradient)
{
    const struct message_block *block = &shape->block;
    const size_t heads = shape->heads;
    for (uint32_t j = first; j < end; j++) {
        float *sum = source_gradient + j * heads;
        vector_zero(sum, heads);
        for (uint32_t e = edges->start[j]; e < edges->start[j + 1]; e++)
            vector_add(sum,
                       gradient +
                           edge_slot_of_edge(block, edges->destination[e], edges->edge[e]) * heads,
                       heads);
        if (j < block->destination_count && !block->is_bipartite)
            vector_add(sum, gradient + edge_slot_of_self(block, j) * heads, heads);
    }
}

CPU_INLINE void dot_by_head(const struct edge_shape *shape, const float *p, const float *q,
                            float *score)
{
    const size_t channels = shape->channels;
    for (size_t h = 0; h < shape->heads; h++)
        score[h] = vector_dot(p + h * channels, q + h * channels, channels);
}

CPU_KERNEL(dot_rows_of_slots,
           (const struct edge_shape *shape, const float *p, const float *q, uint32_t first,
            uint32_t end, float *score),
           (shape, p, q, first, end, score))
{
    const struct message_block *block = &shape->block;
    const size_t heads = shape->heads, width = heads * shape->channels;
    const struct input_rows rows = {.base = q, .stride = width};
    const struct walk walk =
        start_walk(NULL, block, &rows, PRECISION_FP32, (uint32_t)width, first, end);
    for (uint32_t i = first; i < end; i++) {
        ask_for_own_rows(&walk, i);
        for (uint32_t e = block->row_start[i]; e < block->row_start[i + 1]; e++, score += heads) {
            ask_ahead(&walk, e);
            dot_by_head(shape, p + i * width, q + block->neighbor[e] * width, score);
        }
        if (block->is_bipartite)
            continue;
        dot_by_head(shape, p + i * width, q + i * width, score);
        score += heads;
    }
}

void edge_score_dot(const struct edge_shape *shape, const float *p, const float *q, uint32_t first,
                    uint32_t end, float *score)
{
    dot_rows_of_slots(shape, p, q, first, end,
                      score + edge_slot(&shape->block, first) * shape->heads);
}

CPU_INLINE void dot_all_heads(const float *p, const float *q, size_t heads, size_t dim,
                              float *score)
{
    for (size_t h = 0; h < heads; h++)
        score[h] = vector_dot(p + h * dim, q, dim);
}

CPU_KERNEL(dot_shared_rows,
           (const struct edge_shape *shape, const float *p, const struct input_rows *q,
            uint32_t dim, uint32_t first, uint32_t end, float *score),
           (shape, p, q, dim, first, end, score))
{
    const struct message_block *block = &shape->block;
    const size_t heads = shape->heads;
    const struct walk walk = start_walk(NULL, block, q, PRECISION_FP32, dim, first, end);
    for (uint32_t i = first; i < end; i++, p += heads * dim) {
        ask_for_own_rows(&walk, i);
        for (uint32_t e = block->row_start[i]; e < block->row_start[i + 1]; e++, score += heads) {
            ask_ahead(&walk, e);
            dot_all_heads(p, float_row(q, block->neighbor[e]), heads, dim, score);
        }
        if (block->is_bipartite)
            continue;
        dot_all_heads(p, float_row(q, i), heads, dim, score);
        score += heads;
    }
}

void edge_score_dot_shared(const struct edge_shape *shape, const float *p,
                           const struct input_rows *q, uint32_t dim, uint32_t first, uint32_t end,
                           float *score)
{
    dot_shared_rows(shape, p, q, dim, first, end,
                    score + edge_slot(&shape->block, first) * shape->heads);
}
