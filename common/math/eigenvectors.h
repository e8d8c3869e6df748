/*
 * eigenvectors - those of a large symmetric matrix with the largest eigenvalues, by products with it alone.
 *
 * ARPACK: Lehoucq, Sorensen and Yang, "ARPACK users' guide: solution of large-scale eigenvalue problems with implicitly
 * restarted Arnoldi methods", 1998. Its last bits are those of the BLAS that it is linked with.
 */
#ifndef COMMON_MATH_EIGENVECTORS_H
#define COMMON_MATH_EIGENVECTORS_H

#include "common/base/error.h"

#include <stdint.h>

struct symmetric_matrix {
    int32_t size;
    /* y = A x, both [size]. */
    void (*product)(void *context, const double *x, double *y);
    void *context;
};

/* Fills vector [count, size], of length 1 each, in the order of falling eigenvalues, and value [count]; the sign makes the
 * element that is farthest from 0 (of several the first) positive. `tolerance`: of an eigenvalue, relative. The search
 * starts from numbers drawn by `seed`.
 * 1 <= count < size - 1.
 * *found: how many converged; what is behind them is 0.
 * Fails:   ERROR_NO_MEMORY; ERROR_BUG when ARPACK refuses its arguments.
 * Threads: one at a time in a process: ARPACK keeps its state in static variables. */
MUST_CHECK enum error_code eigenvectors_largest(const struct symmetric_matrix *matrix, int count,
                                                double tolerance, int64_t seed, double *vector,
                                                double *value, int *found, struct error *err);
/* What that takes beside `vector`. */
uint64_t eigenvectors_bytes(uint64_t size, int count);

#endif
