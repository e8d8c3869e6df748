/* matrix - rows of floats that lie in someone else's memory. */
#ifndef COMMON_MATH_MATRIX_H
#define COMMON_MATH_MATRIX_H

#include <stddef.h>

struct matrix_view {
    const float *value;
    size_t rows, cols;
    size_t stride; /* floats from row to row, >= cols */
};

/* Rows that follow each other without a gap. */
static inline struct matrix_view matrix_view_of(const float *value, size_t rows, size_t cols)
{
    return (struct matrix_view){.value = value, .rows = rows, .cols = cols, .stride = cols};
}

#endif
