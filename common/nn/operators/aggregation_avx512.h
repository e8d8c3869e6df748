/* aggregation_avx512 - aggregation.h where the processor has AVX-512: the same bits, with sums that stay in registers. */
#ifndef COMMON_NN_OPERATORS_AGGREGATION_AVX512_H
#define COMMON_NN_OPERATORS_AGGREGATION_AVX512_H

#include "common/nn/operators/aggregation.h"

/* One vector: for narrower rows there is no code here. */
enum { AGGREGATION_AVX512_DIM_MIN = 16 };

void aggregation_forward_avx512(const struct aggregation *aggregation,
                                const struct message_block *block, const struct input_rows *input,
                                uint32_t dim, uint32_t first, uint32_t end, float *scratch,
                                void *out);
void aggregation_backward_avx512(const struct aggregation *aggregation,
                                 const struct transposed_edges *edges, const float *gradient,
                                 uint32_t dim, uint32_t first, uint32_t end, float *out);

#endif
