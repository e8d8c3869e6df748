#include "common/math/bf16.h"

#include "tests/support/test.h"

#include <math.h>

static float float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Rounds by comparing both neighbours: the nearer one, or of two equally near ones the even. */
static bf16 slowly_rounded(uint32_t bits)
{
    const uint32_t low = bits & 0xffff;
    const uint32_t down = bits >> 16;
    if (low < 0x8000 || (low == 0x8000 && down % 2 == 0))
        return (bf16)down;
    return (bf16)(down + 1);
}

static void rounds_to_the_nearest_and_ties_to_even(void **state)
{
    (void)state;
    for (uint32_t upper = 0; upper < 0x10000; upper++)
        for (uint32_t low = 0; low < 0x10000; low += 0x1fff) {
            const uint32_t bits = upper << 16 | low;
            if (!isnan(float_of_bits(bits)))
                assert_int_equal(bf16_of_float(float_of_bits(bits)), slowly_rounded(bits));
        }
    assert_int_equal(bf16_of_float(float_of_bits(0x3f808000)), 0x3f80);
    assert_int_equal(bf16_of_float(float_of_bits(0x3f818000)), 0x3f82);
}

static void every_bf16_comes_back_from_its_float(void **state)
{
    (void)state;
    for (uint32_t x = 0; x < 0x10000; x++) {
        const float value = bf16_to_float((bf16)x);
        if (isnan(value))
            assert_true(isnan(bf16_to_float(bf16_of_float(value))));
        else
            assert_int_equal(bf16_of_float(value), x);
    }
}

/* The upper half alone would turn this NaN into infinity. */
static void a_nan_whose_bits_are_all_in_the_lower_half_stays_one(void **state)
{
    (void)state;
    assert_true(isnan(bf16_to_float(bf16_of_float(float_of_bits(0x7f800001)))));
    assert_true(isnan(bf16_to_float(bf16_of_float(float_of_bits(0xffffffff)))));
    assert_true(isnan(bf16_to_float(bf16_of_float(float_of_bits(0x7fffffff)))));
}

static void what_rounds_past_the_largest_value_is_infinite(void **state)
{
    (void)state;
    assert_int_equal(bf16_of_float(float_of_bits(0x7f7fffff)), 0x7f80);
    assert_int_equal(bf16_of_float(INFINITY), 0x7f80);
    assert_int_equal(bf16_of_float(-INFINITY), 0xff80);
}

static void rows_are_converted_element_by_element(void **state)
{
    enum { COUNT = 133 };
    float x[COUNT], back[COUNT];
    bf16 y[COUNT];
    (void)state;
    for (int i = 0; i < COUNT; i++)
        x[i] = sinf((float)i) * powf(10, (float)(i % 60 - 30));
    bf16_of_floats(y, x, COUNT);
    bf16_to_floats(back, y, COUNT);
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(y[i], bf16_of_float(x[i]));
        assert_true(fabsf(back[i] - x[i]) <= fabsf(x[i]) / 256);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounds_to_the_nearest_and_ties_to_even),
        cmocka_unit_test(every_bf16_comes_back_from_its_float),
        cmocka_unit_test(a_nan_whose_bits_are_all_in_the_lower_half_stays_one),
        cmocka_unit_test(what_rounds_past_the_largest_value_is_infinite),
        cmocka_unit_test(rows_are_converted_element_by_element),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
