/* Compares exponentials with libm in double precision, and the bits of all levels. */
#include "common/math/vector_exp.h"
#include "common/numbers/cpu_kernel.h"

#include "tests/support/test.h"

#include <math.h>

enum { COUNT = 100003 };

CPU_KERNEL(exponentials, (float *x, size_t count), (x, count))
{
    vector_exp(x, count);
}

static float argument(size_t i)
{
    return -87.0F * (float)i / COUNT;
}

static void are_within_two_units_in_the_last_place(void **state)
{
    static float x[COUNT];
    (void)state;
    for (size_t i = 0; i < COUNT; i++)
        x[i] = argument(i);
    exponentials(x, COUNT);
    assert_true(x[0] == 1);
    for (size_t i = 0; i < COUNT; i++) {
        const double expected = exp((double)argument(i));
        assert_true(fabs((double)x[i] - expected) <= 2 * 0x1p-23 * expected);
    }
}

static void the_ends_of_floats(void **state)
{
    float x[] = {NAN, -INFINITY, -88, -0.0F};
    (void)state;
    exponentials(x, 4);
    assert_true(isnan(x[0]));
    assert_true(x[1] == x[2] && x[2] > 0 && x[2] < 1e-37F);
    assert_true(x[3] == 1);
}

static void every_level_gives_the_same_bits(void **state)
{
    static float plain[COUNT], other[COUNT];
    (void)state;
    for (int level = CPU_PLAIN; level <= CPU_AVX512; level++) {
        cpu_level_limit((enum cpu_level)level);
        for (size_t i = 0; i < COUNT; i++)
            other[i] = argument(i);
        exponentials(other, COUNT);
        if (level == CPU_PLAIN)
            memcpy(plain, other, sizeof plain);
        assert_memory_equal(other, plain, sizeof plain);
    }
    cpu_level_limit(CPU_BF16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(are_within_two_units_in_the_last_place),
        cmocka_unit_test(the_ends_of_floats),
        cmocka_unit_test(every_level_gives_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
