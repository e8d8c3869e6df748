/* mixing_avx512 - mixing.h where the processor has AVX-512: the same bits, with sums that stay in registers. */
#ifndef COMMON_NN_MIXING_AVX512_H
#define COMMON_NN_MIXING_AVX512_H

#include "common/nn/mixing.h"

/* One vector: for narrower rows there is no code here. */
enum { MIXING_AVX512_DIM_MIN = 16 };

void mixing_gather_avx512(const struct mixing *mixing, const struct message_block *block,
                          const struct input_rows *input, uint32_t dim, uint32_t first,
                          uint32_t end, float *scratch, void *out);
void mixing_spread_avx512(const struct mixing *mixing, const struct transposed_edges *edges,
                          const float *gradient, uint32_t dim, uint32_t first, uint32_t end,
                          float *out);

#endif
