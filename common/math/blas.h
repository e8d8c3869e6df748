/*
 * blas - matrix products by OpenBLAS. No other file uses it.
 *
 * A call always uses one BLAS thread: the bits of a product depend on the number of threads, and
 * our threads have their own tiles of rows anyway (model.h). The bits also depend on the core type,
 * which blas_core_name() returns, and on the version. Threads: any number at once.
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

/* Computes c [m, n] with a stride of c_stride floats: overwritten, or added to when `add`. Sizes
 * must agree and be below 2^31; nothing overlaps. */
void blas_product(enum blas_form form, struct matrix_view a, struct matrix_view b, bool add,
                  float *c, size_t c_stride);

/* Returns the processor type that OpenBLAS chose its kernels for, such as "SkylakeX". */
const char *blas_core_name(void);
/* Sets one thread for each call from now on, for libraries that call BLAS themselves. It may be
 * repeated. */
void blas_start(void);
/* Returns "OpenBLAS 0.3.21 ...", the library's description of itself. */
const char *blas_version(void);

#endif
