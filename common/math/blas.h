/*
 * blas - matrix products by OpenBLAS, the only door to it.
 *
 * Always one BLAS thread a call: the bits of a product depend on the thread count, and threads have
 * their own tiles of rows anyway (model.h). They also depend on the core type, which
 * blas_core_name() tells, and on the version. Any number of threads may call at once.
 */
#ifndef COMMON_MATH_BLAS_H
#define COMMON_MATH_BLAS_H

#include "common/math/matrix.h"

#include <stdbool.h>
#include <stddef.h>

enum blas_form {
    BLAS_NN, /* c = a b      a [m, k]  b [k, n] */
    BLAS_NT, /* c = a b^T    a [m, k]  b [n, k] */
    BLAS_TN, /* c = a^T b    a [k, m]  b [k, n] */
};

/* c [m, n] with c_stride floats from row to row: overwritten, or added to when `add`.
 * Sizes must agree and be below 2^31; nothing overlaps. */
void blas_product(enum blas_form form, struct matrix_view a, struct matrix_view b, bool add,
                  float *c, size_t c_stride);

/* The processor type that OpenBLAS chose its kernels for, "SkylakeX". */
const char *blas_core_name(void);
/* One thread a call from now on: for libraries that call BLAS themselves. Doing it again is fine. */
void blas_start(void);
/* "OpenBLAS 0.3.21 ..." as the library describes itself. */
const char *blas_version(void);

#endif
