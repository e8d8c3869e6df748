#include "common/math/blas.h"

#include "common/base/error.h"

#include <cblas.h>
#include <limits.h>
#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void set_one_thread(void)
{
    openblas_set_num_threads(1);
}

/* It is a constructor, because a start-up call could be forgotten, and more threads would silently
 * change bits. */
void blas_start(void)
{
    (void)pthread_once(&once, set_one_thread);
}

static int blas_int(size_t value)
{
    must(value <= INT_MAX);
    return (int)value;
}

void blas_product(enum blas_form form, struct matrix_view a, struct matrix_view b, bool add,
                  float *c, size_t c_stride)
{
    const bool transpose_a = form == BLAS_TN, transpose_b = form == BLAS_NT;
    const size_t m = transpose_a ? a.cols : a.rows;
    const size_t k = transpose_a ? a.rows : a.cols;
    const size_t n = transpose_b ? b.rows : b.cols;
    must(k == (transpose_b ? b.cols : b.rows));
    must(k > 0);
    if (m == 0 || n == 0)
        return;
    blas_start();
    cblas_sgemm(CblasRowMajor, transpose_a ? CblasTrans : CblasNoTrans,
                transpose_b ? CblasTrans : CblasNoTrans, blas_int(m), blas_int(n), blas_int(k), 1,
                a.value, blas_int(a.stride), b.value, blas_int(b.stride), add ? 1 : 0, c,
                blas_int(c_stride));
}

const char *blas_core_name(void)
{
    return openblas_get_corename();
}

const char *blas_version(void)
{
    return openblas_get_config();
}
