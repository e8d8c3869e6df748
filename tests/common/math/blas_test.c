#include "common/base/memory.h"
#include "common/math/blas.h"

#include "tests/support/test.h"

#include <math.h>

enum { SIZE_MAX_EACH = 70 };

static float element(size_t i, uint32_t salt)
{
    return sinf((float)i * 0.7F + (float)salt);
}

static float *filled(size_t count, uint32_t salt)
{
    float *value = memory_alloc(count, sizeof *value);
    for (size_t i = 0; i < count; i++)
        value[i] = element(i, salt);
    return value;
}

static double expected(enum blas_form form, struct matrix_view a, struct matrix_view b, size_t row,
                       size_t col, size_t depth)
{
    double sum = 0;
    for (size_t k = 0; k < depth; k++) {
        const float left =
            form == BLAS_TN ? a.value[k * a.stride + row] : a.value[row * a.stride + k];
        const float right =
            form == BLAS_NT ? b.value[col * b.stride + k] : b.value[k * b.stride + col];
        sum += (double)left * (double)right;
    }
    return sum;
}

static void check(enum blas_form form, size_t m, size_t n, size_t k, bool add)
{
    const size_t gap = 3, c_stride = n + 2;
    struct matrix_view a = {.rows = m, .cols = k}, b = {.rows = k, .cols = n};
    if (form == BLAS_TN)
        a = (struct matrix_view){.rows = k, .cols = m};
    if (form == BLAS_NT)
        b = (struct matrix_view){.rows = n, .cols = k};
    a.stride = a.cols + gap;
    b.stride = b.cols + gap;
    float *left = filled(a.rows * a.stride, 1), *right = filled(b.rows * b.stride, 2);
    float *c = filled(m * c_stride, 3);
    a.value = left;
    b.value = right;
    blas_product(form, a, b, add, c, c_stride);
    for (size_t row = 0; row < m; row++)
        for (size_t col = 0; col < c_stride; col++) {
            const double before = (double)element(row * c_stride + col, 3);
            const double sum = col < n ? expected(form, a, b, row, col, k) : 0;
            const double want = (add || col >= n ? before : 0) + sum;
            assert_true(fabs((double)c[row * c_stride + col] - want) < 1e-4);
        }
    memory_free(left);
    memory_free(right);
    memory_free(c);
}

static void every_form_agrees_with_three_loops(void **state)
{
    static const size_t sizes[] = {1, 2, 15, 33, SIZE_MAX_EACH};
    const size_t count = sizeof sizes / sizeof *sizes;
    (void)state;
    for (enum blas_form form = BLAS_NN; form <= BLAS_TN; form++)
        for (size_t m = 0; m < count; m++)
            for (size_t n = 0; n < count; n++)
                for (size_t k = 0; k < count; k++) {
                    check(form, sizes[m], sizes[n], sizes[k], false);
                    check(form, sizes[m], sizes[n], sizes[k], true);
                }
}

static void a_product_that_overwrites_ignores_what_was_there(void **state)
{
    const float a[] = {1, 2}, b[] = {3, 4};
    float c[] = {NAN};
    (void)state;
    blas_product(BLAS_NT, matrix_view_of(a, 1, 2), matrix_view_of(b, 1, 2), false, c, 1);
    assert_true(c[0] == 11);
}

static void no_rows_are_no_work(void **state)
{
    const float b[] = {3, 4};
    float c[] = {7};
    (void)state;
    blas_product(BLAS_NT, matrix_view_of(b, 0, 2), matrix_view_of(b, 1, 2), false, c, 1);
    assert_true(c[0] == 7);
}

static void the_library_says_what_it_is(void **state)
{
    (void)state;
    assert_true(strlen(blas_core_name()) > 0);
    assert_non_null(strstr(blas_version(), "OpenBLAS"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_agrees_with_three_loops),
        cmocka_unit_test(a_product_that_overwrites_ignores_what_was_there),
        cmocka_unit_test(no_rows_are_no_work),
        cmocka_unit_test(the_library_says_what_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
