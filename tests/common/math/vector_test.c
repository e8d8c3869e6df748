#include "common/math/vector.h"
#include "common/numbers/cpu_kernel.h"

#include "tests/support/test.h"

#include <math.h>
#include <string.h>

enum { COUNT = 67 };

/* Returns numbers of many magnitudes, and some whose products are between two floats. */
static float element(uint32_t i)
{
    const uint32_t bits = (i + 1) * 2654435761U;
    return ldexpf((float)(int32_t)bits, (int)(bits % 60) - 60);
}

/* Computes a b + c rounded once. The product is exact in a double. If the sum is not, its last bit
 * is made odd, so that the second rounding is correct (Boldo and Melquiond 2008). */
static float multiply_add_of(float a, float b, float c)
{
    const double product = (double)a * (double)b, sum = product + (double)c;
    const double back = sum - product;
    const double rest = (product - (sum - back)) + ((double)c - back);
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    if (rest != 0 && bits % 2 == 0)
        bits = (rest > 0) == (sum > 0) ? bits + 1 : bits - 1;
    double odd;
    memcpy(&odd, &bits, sizeof odd);
    return (float)odd;
}

CPU_KERNEL(add_scaled, (float *restrict y, const float *restrict x, float scale, size_t count),
           (y, x, scale, count))
{
    vector_add_scaled(y, x, scale, count);
}

CPU_KERNEL_OF(float, dot_of, (const float *x, const float *y, size_t count), (x, y, count))
{
    return vector_dot(x, y, count);
}

static void a_scaled_row_is_rounded_once_at_each_level(void **state)
{
    (void)state;
    uint32_t unfused = 0;
    for (int level = CPU_PLAIN; level < CPU_LEVEL_COUNT; level++)
        for (uint32_t turn = 0; turn < 300; turn++) {
            float x[COUNT], y[COUNT], expected[COUNT];
            const float scale = element(7777 + turn);
            for (uint32_t i = 0; i < COUNT; i++) {
                x[i] = element(turn * COUNT + i);
                y[i] = -scale * x[i] + (i % 3 ? element(turn + i) : 0);
                expected[i] = multiply_add_of(scale, x[i], y[i]);
                const float term = scale * x[i];
                unfused += expected[i] != term + y[i];
            }
            cpu_level_limit((enum cpu_level)level);
            add_scaled(y, x, scale, COUNT);
            assert_memory_equal(y, expected, sizeof y);
        }
    assert_true(unfused > 1000); /* otherwise the test would prove nothing */
}

static void a_dot_product_has_the_same_bits_at_each_level(void **state)
{
    (void)state;
    float x[COUNT], y[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        x[i] = sinf((float)i);
        y[i] = cosf((float)i * 3);
    }
    for (size_t count = 0; count <= COUNT; count++) {
        float part[DOT_PARTS] = {0};
        for (size_t i = 0; i < count; i++)
            part[i % DOT_PARTS] = multiply_add_of(x[i], y[i], part[i % DOT_PARTS]);
        for (size_t apart = DOT_PARTS / 2; apart > 0; apart /= 2)
            for (size_t k = 0; k < apart; k++)
                part[k] += part[k + apart];
        const float expected = part[0];
        for (int level = CPU_PLAIN; level < CPU_LEVEL_COUNT; level++) {
            cpu_level_limit((enum cpu_level)level);
            const float dot = dot_of(x, y, count);
            assert_memory_equal(&dot, &expected, sizeof dot);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scaled_row_is_rounded_once_at_each_level),
        cmocka_unit_test(a_dot_product_has_the_same_bits_at_each_level),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
