/*
 * sparse_product - a matrix product whose left side is mostly zeros, in compressed rows.
 *
 *   c[r, :] = (or +=) sum over the entries (k, v) of row r, in their order, of v * b[k, :]
 *
 * After ReLU and dropout three of four elements of a hidden layer's gradient are zero, and bags of
 * words have one nonzero in a hundred. A dense product multiplies all of them.
 *
 * Each element of c is summed in the order of its row's entries with one fused multiply-add for
 * each, whatever the blocks and vectors: the bits are those of two plain loops.
 */
#ifndef COMMON_MATH_SPARSE_PRODUCT_H
#define COMMON_MATH_SPARSE_PRODUCT_H

#include "common/math/matrix.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sparse_entry {
    uint32_t column;
    float value;
};

/* Row r is entry[row_start[r]] up to, not including, entry[row_end[r]], columns ascending. For
 * consecutive rows without gaps row_end = row_start + 1. Borrowed. */
struct sparse_matrix {
    size_t rows, cols;
    const uint32_t *row_start, *row_end; /* [rows] */
    const struct sparse_entry *entry;
};

/* Multiplies a [m, k] and b [k, n] into c [m, n] with a stride of c_stride floats; k > 0; nothing
 * overlaps. */
void sparse_product(const struct sparse_matrix *a, struct rows_view b, bool add, float *c,
                    size_t c_stride);

#endif
