/*
 * row_conversion - converts rows between the form of a shard and the form that kernels read.
 */
#ifndef STORE_FEATURES_ROW_CONVERSION_H
#define STORE_FEATURES_ROW_CONVERSION_H

#include "common/math/precision.h"
#include "store/records/round/tensor_spec.h"

#include <stdbool.h>
#include <stddef.h>

/* Returns the precision in which rows of `type` are held if `wanted` is asked for. Elements that
 * are not floating-point numbers stay as they are. */
enum precision row_conversion_precision(enum tensor_type type, enum precision wanted);
/* Returns whether rows held in `precision` equal the stored ones, byte for byte. */
bool row_conversion_is_none(enum tensor_type type, enum precision precision);
/* Converts `row_count` stored rows of `dim` elements of `type`, which may be unaligned, into `out`
 * [row_count, precision_stride(dim)]. Padding after the columns of a row becomes 0. */
void row_conversion_enter(void *out, enum precision precision, const void *rows,
                          enum tensor_type type, size_t dim, size_t row_count);
/* Converts `count` floats to elements of a floating-point type, rounded to nearest, ties to
 * even. */
void row_conversion_store(void *out, enum tensor_type type, const float *value, size_t count);

#endif
