/*
 * eigenvectors - computes the eigenvectors with the largest eigenvalues of a large symmetric
 * matrix, using only products with it.
 *
 * ARPACK: Lehoucq, Sorensen and Yang, "ARPACK users' guide: solution of large-scale eigenvalue
 * problems with implicitly restarted Arnoldi methods", 1998. The last bits depend on the BLAS that
 * it is linked with.
 */
#ifndef COMMON_MATH_EIGENVECTORS_H
#define COMMON_MATH_EIGENVECTORS_H

#include "common/base/error.h"

#include <stdint.h>

struct symmetric_matrix {
    int32_t size;
    /* Computes y = A x, both [size]. */
    void (*product)(void *context, const double *x, double *y);
    void *context;
};

/* Computes vector [count, size], each of length 1, in the order of falling eigenvalues, and value
 * [count]. The sign is chosen so that the element with the largest magnitude (the first of several)
 * is positive. `tolerance` is the relative one of an eigenvalue. The search starts from numbers
 * drawn with `seed`. 1 <= count < size - 1. *found: the number that converged; later entries are 0.
 * Fails:   ERROR_NO_MEMORY; ERROR_BUG when ARPACK refuses its arguments.
 * Threads: one at a time in a process, because ARPACK keeps its state in static variables. */
MUST_CHECK enum error_code eigenvectors_largest(const struct symmetric_matrix *matrix, int count,
                                                double tolerance, int64_t seed, double *vector,
                                                double *value, int *found, struct error *err);
/* Returns the memory that this needs in addition to `vector`. */
uint64_t eigenvectors_bytes(uint64_t size, int count);

#endif
