#include "common/nn/operators/edge_softmax.h"

#include "common/math/vector_exp.h"

/* Less than e^x shows: what replaced slots get before they are set to 0. */
static const float lowest = -100;

/* value [slots of i, heads] minus the greatest of each head. A NaN among the scores makes every share NaN, and is noticed
 * at the loss. */
CPU_INLINE void subtract_greatest(const struct message_block *block, uint32_t i, const size_t heads,
                                  float *restrict value)
{
    const uint32_t count = edge_slots_of(block, i);
    for (size_t h = 0; h < heads; h++) {
        float most = value[(count - 1) * heads + h];
        for (uint32_t k = 0; k + 1 < count; k++) {
            const float score = value[k * heads + h];
            most = score > most && block->neighbor[block->row_start[i] + k] != i ? score : most;
        }
        for (uint32_t k = 0; k < count; k++)
            value[k * heads + h] -= most;
    }
    for (uint32_t k = 0; k + 1 < count; k++)
        if (block->neighbor[block->row_start[i] + k] == i)
            for (size_t h = 0; h < heads; h++)
                value[k * heads + h] = lowest;
}

/* From exponentials to shares. */
CPU_INLINE void divide_by_sum(const struct message_block *block, uint32_t i, const size_t heads,
                              float *restrict value)
{
    const uint32_t count = edge_slots_of(block, i);
    for (uint32_t k = 0; k + 1 < count; k++)
        if (block->neighbor[block->row_start[i] + k] == i)
            vector_zero(value + k * heads, heads);
    for (size_t h = 0; h < heads; h++) {
        float sum = 0;
        for (uint32_t k = 0; k < count; k++)
            sum += value[k * heads + h];
        const float share = 1 / sum;
        for (uint32_t k = 0; k < count; k++)
            value[k * heads + h] *= share;
    }
}

/* Rows are done some at a time: their exponentials in one loop, while they are in the first cache. */
CPU_INLINE void softmax_rows(const struct message_block *block, uint32_t first, uint32_t end,
                             const size_t heads, float *restrict value)
{
    enum { ROWS_AT_ONCE = 32 };
    for (uint32_t row = first, next; row < end; row = next) {
        next = end - row < ROWS_AT_ONCE ? end : row + ROWS_AT_ONCE;
        for (uint32_t i = row; i < next; i++)
            subtract_greatest(block, i, heads, value + edge_slot(block, i) * heads);
        vector_exp(value + edge_slot(block, row) * heads,
                   (edge_slot(block, next) - edge_slot(block, row)) * heads);
        for (uint32_t i = row; i < next; i++)
            divide_by_sum(block, i, heads, value + edge_slot(block, i) * heads);
    }
}

/* With the usual numbers of heads as constants. */
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

void edge_softmax_backward(const struct edge_shape *shape, const float *share, uint32_t first,
                           uint32_t end, float *gradient)
{
    const size_t heads = shape->heads;
    for (uint32_t i = first; i < end; i++)
        for (size_t h = 0; h < heads; h++) {
            const size_t start = edge_slot(&shape->block, i) * heads + h;
            const size_t stop = edge_slot(&shape->block, i + 1) * heads + h;
            float sum = 0;
            for (size_t at = start; at < stop; at += heads)
                sum += share[at] * gradient[at];
            for (size_t at = start; at < stop; at += heads)
                gradient[at] = share[at] * (gradient[at] - sum);
        }
}
