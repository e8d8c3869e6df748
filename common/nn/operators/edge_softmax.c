#include "common/nn/operators/edge_softmax.h"

#include <math.h>

/* One head of a row: `value` is that of its first slot. A NaN among the scores makes every share NaN, and is noticed at
 * the loss. */
static void softmax_row(const struct edge_shape *shape, uint32_t i, float *value)
{
    const uint32_t count = edge_slots_of(&shape->block, i);
    const size_t heads = shape->heads;
    float most = value[(count - 1) * heads], sum = 0;
    for (uint32_t k = 0; k < count; k++)
        if (!edge_slot_is_replaced(&shape->block, i, k) && value[k * heads] > most)
            most = value[k * heads];
    for (uint32_t k = 0; k < count; k++) {
        float *share = &value[k * heads];
        *share = edge_slot_is_replaced(&shape->block, i, k) ? 0 : expf(*share - most);
        sum += *share;
    }
    for (uint32_t k = 0; k < count; k++)
        value[k * heads] /= sum;
}

void edge_softmax(const struct edge_shape *shape, uint32_t first, uint32_t end, float *value)
{
    for (uint32_t i = first; i < end; i++)
        for (size_t h = 0; h < shape->heads; h++)
            softmax_row(shape, i, value + edge_slot(&shape->block, i) * shape->heads + h);
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
