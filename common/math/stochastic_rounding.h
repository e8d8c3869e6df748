/*
 * stochastic_rounding - floats in 16 or 8 bits, rounded up or down at random so that the mean stays what it was.
 *
 * A number between two neighbours a < b of the shorter form becomes b with the chance (x - a) / (b - a), so what a sum over
 * many of them loses by rounding has mean 0 (Gupta and others, "Deep Learning with Limited Numerical Precision", ICML 2015;
 * of gradients: Alistarh and others, "QSGD", NeurIPS 2017). The draw of element i is a function of the stream and i alone.
 *
 * `value` is finite everywhere. Element by element, so all levels of the processor give the same bits.
 */
#ifndef COMMON_MATH_STOCHASTIC_ROUNDING_H
#define COMMON_MATH_STOCHASTIC_ROUNDING_H

#include "common/base/random.h"
#include "common/math/bf16.h"

#include <stddef.h>
#include <stdint.h>

/* What would round past the largest number is cut off instead. `value`, out [count]. */
void bf16_of_floats_stochastic(const struct random_stream *stream, const float *value, size_t count,
                               bf16 *out);

/* `block` elements share a scale, a 127th of the largest magnitude among them; element i stands for
 * out[i] * scale[i / block]. `value`, out [count], scale [count / block, rounded up]. block >= 1. */
void int8_of_floats_stochastic(const struct random_stream *stream, const float *value, size_t count,
                               size_t block, int8_t *out, float *scale);
void int8_to_floats(const int8_t *value, const float *scale, size_t count, size_t block,
                    float *out);

#endif
