/*
 * row_conversion - rows as a shard has them to rows as kernels read them, and back.
 */
#ifndef STORE_FEATURES_ROW_CONVERSION_H
#define STORE_FEATURES_ROW_CONVERSION_H

#include "common/math/precision.h"
#include "store/records/tensor_spec.h"

#include <stdbool.h>
#include <stddef.h>

/* What rows of `type` are held in, where `wanted` is: elements that are no floating-point numbers stay as they are. */
enum precision row_conversion_precision(enum tensor_type type, enum precision wanted);
/* Whether rows held so are the stored ones, byte for byte. */
bool row_conversion_is_none(enum tensor_type type, enum precision precision);
/* `row_count` stored rows of `dim` elements of `type`, at any address, into `out` [row_count, precision_stride(dim)];
 * what is beside the columns of a row becomes 0. */
void row_conversion_enter(void *out, enum precision precision, const void *rows,
                          enum tensor_type type, size_t dim, size_t row_count);
/* `count` floats, rounded to nearest, ties to even, as elements of a floating-point type. */
void row_conversion_store(void *out, enum tensor_type type, const float *value, size_t count);

#endif
