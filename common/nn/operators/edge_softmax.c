#include "common/nn/operators/edge_softmax.h"

#include "common/math/vector_exp.h"

/* The value of replaced slots until they are set to 0: so low that e^x is negligible. */
static const float lowest = -100;

/* Heads are processed side by side because their values are adjacent; each head has its own
 * sums. */
enum { HEADS_AT_ONCE = 16 };

/* Subtracts the maximum of each head from value [slots of i, heads], for `count` heads. A NaN
 * among the scores makes every share NaN, so it is noticed at the loss. */
CPU_INLINE void subtract_greatest(const struct message_block *block, uint32_t i, const size_t heads,
                                  const size_t count, float *restrict value)
{
    const uint32_t slots = edge_slots_of(block, i);
    const bool has_own = !block->is_bipartite;
    float most[HEADS_AT_ONCE];
    if (slots == 0)
        return;
    const uint32_t *neighbor = block->neighbor + block->row_start[i];
    for (size_t h = 0; h < count; h++)
        most[h] = value[(slots - 1) * heads + h];
    for (uint32_t k = 0; k + 1 < slots; k++)
        if (!has_own || neighbor[k] != i)
            for (size_t h = 0; h < count; h++)
                most[h] = value[k * heads + h] > most[h] ? value[k * heads + h] : most[h];
    for (uint32_t k = 0; k < slots; k++)
        for (size_t h = 0; h < count; h++)
            value[k * heads + h] = has_own && k + 1 < slots && neighbor[k] == i
                                       ? lowest
                                       : value[k * heads + h] - most[h];
}

/* Divides exponentials by their sum, which gives the shares. */
CPU_INLINE void divide_by_sum(const struct message_block *block, uint32_t i, const size_t heads,
                              const size_t count, float *restrict value)
{
    const uint32_t slots = edge_slots_of(block, i);
    const bool has_own = !block->is_bipartite;
    float share[HEADS_AT_ONCE] = {0};
    if (slots == 0)
        return;
    const uint32_t *neighbor = block->neighbor + block->row_start[i];
    for (uint32_t k = 0; k < slots; k++) {
        if (has_own && k + 1 < slots && neighbor[k] == i)
            vector_zero(value + k * heads, count);
        for (size_t h = 0; h < count; h++)
            share[h] += value[k * heads + h];
    }
    for (size_t h = 0; h < count; h++)
        share[h] = 1 / share[h];
    for (uint32_t k = 0; k < slots; k++)
        for (size_t h = 0; h < count; h++)
            value[k * heads + h] *= share[h];
}

CPU_INLINE size_t heads_from(size_t first, const size_t heads)
{
    return heads - first < HEADS_AT_ONCE ? heads - first : HEADS_AT_ONCE;
}

/* Processes a few rows at a time: one loop computes their exponentials while the rows are in the
 * first-level cache. */
CPU_INLINE void softmax_rows(const struct message_block *block, uint32_t first, uint32_t end,
                             const size_t heads, float *restrict value)
{
    enum { ROWS_AT_ONCE = 32 };
    for (uint32_t row = first, next; row < end; row = next) {
        next = end - row < ROWS_AT_ONCE ? end : row + ROWS_AT_ONCE;
        for (uint32_t i = row; i < next; i++)
            for (size_t h = 0; h < heads; h += HEADS_AT_ONCE)
                subtract_greatest(block, i, heads, heads_from(h, heads),
                                  value + edge_slot(block, i) * heads + h);
        vector_exp(value + edge_slot(block, row) * heads,
                   (edge_slot(block, next) - edge_slot(block, row)) * heads);
        for (uint32_t i = row; i < next; i++)
            for (size_t h = 0; h < heads; h += HEADS_AT_ONCE)
                divide_by_sum(block, i, heads, heads_from(h, heads),
                              value + edge_slot(block, i) * heads + h);
    }
}

/* Calls softmax_rows() with the usual numbers of heads as constants, so that loops over heads
 * unroll. */
CPU_KERNEL(softmax_of_rows,
           (const struct edge_shape *shape, uint32_t first, uint32_t end, float *value),
           (shape, first, end, value))
{
    if (shape->heads == 1)
        softmax_rows(&shape->block, first, end, 1, value);
    else if (shape->heads == 4)
        softmax_rows(&shape->block, first, end, 4, value);
    else if (shape->heads == 8)
        softmax_rows(&shape->block, first, end, 8, value);
    else
        softmax_rows(&shape->block, first, end, shape->heads, value);
}

void edge_softmax(const struct edge_shape *shape, uint32_t first, uint32_t end, float *value)
{
    softmax_of_rows(shape, first, end, value);
}

CPU_INLINE void backward_of_row(const float *restrict share, size_t slots, const size_t heads,
                                const size_t count, float *restrict gradient)
{
    float sum[HEADS_AT_ONCE] = {0};
    for (size_t at = 0; at < slots * heads; at += heads)
        for (size_t h = 0; h < count; h++)
            sum[h] += share[at + h] * gradient[at + h];
    for (size_t at = 0; at < slots * heads; at += heads)
        for (size_t h = 0; h < count; h++)
            gradient[at + h] = share[at + h] * (gradient[at + h] - sum[h]);
}

CPU_INLINE void backward_rows(const struct message_block *block, const float *restrict share,
                              uint32_t first, uint32_t end, const size_t heads,
                              float *restrict gradient)
{
    for (uint32_t i = first; i < end; i++)
        for (size_t h = 0; h < heads; h += HEADS_AT_ONCE) {
            const size_t at = edge_slot(block, i) * heads + h;
            backward_of_row(share + at, edge_slots_of(block, i), heads, heads_from(h, heads),
                            gradient + at);
        }
}

CPU_KERNEL(backward_of_rows,
           (const struct edge_shape *shape, const float *share, uint32_t first, uint32_t end,
            float *gradient),
           (shape, share, first, end, gradient))
{
    if (shape->heads == 1)
        backward_rows(&shape->block, share, first, end, 1, gradient);
    else if (shape->heads == 4)
        backward_rows(&shape->block, share, first, end, 4, gradient);
    else if (shape->heads == 8)
        backward_rows(&shape->block, share, first, end, 8, gradient);
    else
        backward_rows(&shape->block, share, first, end, shape->heads, gradient);
}

void edge_softmax_backward(const struct edge_shape *shape, const float *share, uint32_t first,
                           uint32_t end, float *gradient)
{
    backward_of_rows(shape, share, first, end, gradient);
}
