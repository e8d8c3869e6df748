/* Compares x Phi(x) and its slope with libm in double precision. */
#include "common/math/vector_gelu.h"

#include "tests/support/test.h"

#include <math.h>

enum { COUNT = 40001 };

CPU_KERNEL(find, (const float *x, float *y, size_t count), (x, y, count))
{
    vector_gelu(x, y, count);
}

CPU_KERNEL(find_slope, (const float *x, float *gradient, size_t count), (x, gradient, count))
{
    vector_gelu_backward(x, gradient, count);
}

static double phi(double x)
{
    return 0.5 * erfc(-x / sqrt(2.0));
}

static void is_what_libm_says(void **state)
{
    static float x[COUNT], y[COUNT], slope[COUNT];
    const int middle = COUNT / 2;
    (void)state;
    for (int i = 0; i < COUNT; i++) {
        x[i] = (float)(i - middle) / 1000; /* from -20 to 20 */
        slope[i] = 2;
    }
    find(x, y, COUNT);
    find_slope(x, slope, COUNT);
    for (int i = 0; i < COUNT; i++) {
        const double at = (double)x[i];
        const double expected = phi(at) + at * exp(-at * at / 2) / sqrt(2 * acos(-1.0));
        if (!(fabs((double)y[i] - at * phi(at)) <= 3e-7 * (1 + fabs(at))))
            fail_msg("gelu of %g is %g, expected %g", at, (double)y[i], at * phi(at));
        if (!(fabs((double)slope[i] - 2 * expected) <= 2e-6))
            fail_msg("slope at %g is %g, expected %g", at, (double)slope[i] / 2, expected);
    }
}

static void what_is_no_number_stays_none(void **state)
{
    const float x[] = {NAN, -INFINITY, 1e30F, 0};
    float y[4];
    (void)state;
    find(x, y, 3);
    assert_true(isnan(y[0]));
    assert_true(y[2] == 1e30F);
    find(x + 3, y, 1);
    assert_true(y[0] == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_what_libm_says),
        cmocka_unit_test(what_is_no_number_stays_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
