/* aggregation_avx512 - aggregation.h for processors with AVX-512. It gives the same bits, and
 * keeps the sums in registers. */
#ifndef COMMON_NN_OPERATORS_AGGREGATION_AVX512_H
#define COMMON_NN_OPERATORS_AGGREGATION_AVX512_H

#include "common/nn/operators/aggregation.h"

/* The size of one vector in floats. Narrower rows have no code here. */
enum { AGGREGATION_AVX512_DIM_MIN = 16 };

void aggregation_forward_avx512(const struct aggregation *aggregation,
                                const struct message_block *block, const struct input_rows *input,
                                uint32_t dim, uint32_t first, uint32_t end, float *scratch,
                                void *out);
void aggregation_backward_avx512(const struct aggregation *aggregation,
                                 const struct transposed_edges *edges, const float *gradient,
                                 uint32_t dim, uint32_t first, uint32_t end, float *out);

#endif
