/* gatv2_score - the score of one edge of GATv2 in one head (gatv2_layer.c). */
#ifndef COMMON_NN_LAYERS_ATTENTION_GATV2_SCORE_H
#define COMMON_NN_LAYERS_ATTENTION_GATV2_SCORE_H

#include "common/math/vector.h"
#include "common/nn/operators/edge_score.h"

/* Returns the sum of att times leaky(p + q) over `count` channels, summed in the parts of
 * vector_dot(). */
CPU_INLINE float gatv2_score(const float *restrict att, const float *restrict p,
                             const float *restrict q, size_t count)
{
    float part[DOT_PARTS] = {0}, whole[DOT_PARTS];
    size_t i = 0;
    for (; count - i >= DOT_PARTS; i += DOT_PARTS) {
        KEEP_LOOP
        for (size_t k = 0; k < DOT_PARTS; k++) {
            const float z = p[i + k] + q[i + k];
            part[k] = vector_multiply_add(att[i + k], z > 0 ? z : EDGE_SCORE_SLOPE * z, part[k]);
        }
    }
    const uint32_t left = (uint32_t)(count - i);
    KEEP_LOOP
    for (uint32_t k = 0; k < DOT_PARTS; k++) {
        const float z = k < left ? p[i + k] + q[i + k] : 0;
        const float slope = k < left ? att[i + k] : 0;
        whole[k] = vector_multiply_add(slope, z > 0 ? z : EDGE_SCORE_SLOPE * z, part[k]);
    }
    return vector_sum_of_parts(whole);
}

#endif
