#include "common/numbers/portable_math.h"

#include "tests/support/test.h"

#include <float.h>
#include <math.h>
#include <stdint.h>

static void logarithm_agrees_with_libm(void **state)
{
    (void)state;
    const double given[] = {1.0, 2.0, 0.5, 3.0, 1e-300, 1e300, DBL_MIN, DBL_MAX, 0.7071, 1.4143};
    for (size_t i = 0; i < sizeof given / sizeof given[0]; i++)
        assert_true(fabs(portable_log(given[i]) - log(given[i])) <=
                    4e-16 * fmax(fabs(log(given[i])), 1e-3));
    for (int k = 1; k < 100000; k++) {
        const double x = 1.0 + k * 0.37;
        assert_true(fabs(portable_log(x) - log(x)) <= 4e-16 * log(x));
        assert_true(fabs(portable_log(1.0 / x) + log(x)) <= 8e-16 * fmax(log(x), 0.3));
    }
}

static void sine_and_cosine_agree_with_libm(void **state)
{
    (void)state;
    for (int k = 0; k < 100000; k++) {
        const double turn = k / 100000.0, angle = turn * 6.283185307179586476925286766559;
        double s = 0.0, c = 0.0;
        portable_sin_cos(turn, &s, &c);
        assert_true(fabs(s - sin(angle)) <= 2e-15 && fabs(c - cos(angle)) <= 2e-15);
    }
    double s = 0.0, c = 0.0;
    portable_sin_cos(0.25, &s, &c);
    assert_true(s >= 1.0 && s <= 1.0 && fabs(c) <= 0.0);
}

/* Compares the exact bits, not approximate values, because these bits are stored in datasets. */
static void bits_do_not_change(void **state)
{
    (void)state;
    uint64_t hash = 0;
    for (int k = 0; k < 4096; k++) {
        double value[3];
        uint64_t bits[3];
        value[0] = portable_log((k + 1) / 4096.0);
        portable_sin_cos(k / 4096.0, &value[1], &value[2]);
        memcpy(bits, value, sizeof bits);
        for (int i = 0; i < 3; i++)
            hash = (hash ^ bits[i]) * 0x9e3779b97f4a7c15ULL + 1;
    }
    if (hash != 0x907f5210d3c69376ULL)
        fail_msg("hash is 0x%016llx", (unsigned long long)hash);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logarithm_agrees_with_libm),
        cmocka_unit_test(sine_and_cosine_agree_with_libm),
        cmocka_unit_test(bits_do_not_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
