/*
 * precision - the type of the operands of a layer's products: floats, or bf16 (bf16.h).
 *
 * Sums, weights, gradients and the optimizer always use float.
 */
#ifndef COMMON_MATH_PRECISION_H
#define COMMON_MATH_PRECISION_H

#include "common/math/bf16.h"

#include <stddef.h>

enum precision { PRECISION_FP32, PRECISION_BF16 };

/* Returns the bytes of an element. */
static inline size_t precision_bytes(enum precision precision)
{
    return precision == PRECISION_BF16 ? sizeof(bf16) : sizeof(float);
}

/* Returns the stride in elements of rows of `dim` columns. */
static inline size_t precision_stride(enum precision precision, size_t dim)
{
    return precision == PRECISION_BF16 ? bf16_stride(dim) : dim;
}

/* Returns the address of element `index` of an array. */
static inline const void *precision_at(enum precision precision, const void *array, size_t index)
{
    return (const char *)array + index * precision_bytes(precision);
}

#endif
