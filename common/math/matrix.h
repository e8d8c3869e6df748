/* matrix - views of rows of numbers in borrowed memory. */
#ifndef COMMON_MATH_MATRIX_H
#define COMMON_MATH_MATRIX_H

#include "common/math/precision.h"

#include <stddef.h>

struct matrix_view {
    const float *value;
    size_t rows, cols;
    size_t stride; /* distance between rows in floats, >= cols */
};

/* Returns a view of consecutive rows without gaps. */
static inline struct matrix_view matrix_view_of(const float *value, size_t rows, size_t cols)
{
    return (struct matrix_view){.value = value, .rows = rows, .cols = cols, .stride = cols};
}

/* A view like the one above, of either precision. In bf16 the stride is even, and an odd last
 * column is followed by a 0. */
struct rows_view {
    const void *value;
    enum precision precision;
    size_t rows, cols;
    size_t stride; /* distance between rows in elements */
};

static inline struct rows_view rows_view_of(struct matrix_view matrix)
{
    return (struct rows_view){
        .value = matrix.value, .rows = matrix.rows, .cols = matrix.cols, .stride = matrix.stride};
}

#endif
