/*
 * stochastic_rounding - rounds floats to 16 or 8 bits, up or down at random, so that the expected
 * value is exact.
 *
 * A number x between two neighbours a < b of the shorter form becomes b with probability (x - a) /
 * (b - a), so the rounding error of a sum over many numbers has mean 0 (Gupta and others, "Deep
 * Learning with Limited Numerical Precision", ICML 2015; for gradients: Alistarh and others,
 * "QSGD", NeurIPS 2017). The draw of element i is a function of the stream and i alone.
 *
 * `value` must be finite. All functions work element by element, so all levels of the processor
 * give the same bits.
 */
#ifndef COMMON_MATH_STOCHASTIC_ROUNDING_H
#define COMMON_MATH_STOCHASTIC_ROUNDING_H

#include "common/math/bf16.h"
#include "common/numbers/random.h"

#include <stddef.h>
#include <stdint.h>

/* Rounds `value` into out [count]. A number that would round past the largest is truncated
 * instead. */
void bf16_of_floats_stochastic(const struct random_stream *stream, const float *value, size_t count,
                               bf16 *out);

/* Rounds `value` into out [count]. Each `block` of elements shares a scale, a 127th of their
 * largest magnitude; element i represents out[i] * scale[i / block]. scale [count / block, rounded
 * up]. block >= 1. */
void int8_of_floats_stochastic(const struct random_stream *stream, const float *value, size_t count,
                               size_t block, int8_t *out, float *scale);
void int8_to_floats(const int8_t *value, const float *scale, size_t count, size_t block,
                    float *out);

#endif
