/* Numbers are rounded at random to one of their two neighbours, with the right probability, and
 * with the same bits at each level. */
#include "common/math/stochastic_rounding.h"
#include "common/numbers/cpu_level.h"

#include "tests/support/test.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { COUNT = 777, DRAWS = 4000, BLOCK = 100, BLOCKS = (COUNT + BLOCK - 1) / BLOCK };

static void fill(float value[COUNT])
{
    for (int i = 0; i < COUNT; i++)
        value[i] = sinf((float)i) * expf((float)(i % 40) - 20.0F);
    value[3] = 0.0F;
    value[4] = -0.0F;
    value[5] = 1e-40F;
    memset(value + BLOCK, 0, BLOCK * sizeof *value);
}

static struct random_stream stream_of(uint32_t round)
{
    return random_stream_of(7, RANDOM_ROUNDING, round, 0, 0);
}

static void each_level_gives_the_same_bits(void **state)
{
    float value[COUNT], scale[BLOCKS], first_scale[BLOCKS];
    bf16 half[COUNT], first_half[COUNT];
    int8_t byte[COUNT], first_byte[COUNT];
    const struct random_stream stream = stream_of(1);
    (void)state;
    fill(value);
    for (int level = CPU_PLAIN; level <= CPU_BF16; level++) {
        cpu_level_limit((enum cpu_level)level);
        bf16_of_floats_stochastic(&stream, value, COUNT, half);
        int8_of_floats_stochastic(&stream, value, COUNT, BLOCK, byte, scale);
        if (level == CPU_PLAIN) {
            memcpy(first_half, half, sizeof half);
            memcpy(first_byte, byte, sizeof byte);
            memcpy(first_scale, scale, sizeof scale);
        }
        assert_memory_equal(half, first_half, sizeof half);
        assert_memory_equal(byte, first_byte, sizeof byte);
        assert_memory_equal(scale, first_scale, sizeof scale);
    }
    cpu_level_limit(CPU_BF16);
}

/* The mean of many draws is the number, within five standard errors of a coin toss between its
 * neighbours. */
static void the_mean_stays(void **state)
{
    float value[COUNT], scale[BLOCKS], read[COUNT];
    static double half_sum[COUNT], byte_sum[COUNT];
    (void)state;
    fill(value);
    for (uint32_t round = 0; round < DRAWS; round++) {
        const struct random_stream stream = stream_of(round);
        bf16 half[COUNT];
        int8_t byte[COUNT];
        bf16_of_floats_stochastic(&stream, value, COUNT, half);
        int8_of_floats_stochastic(&stream, value, COUNT, BLOCK, byte, scale);
        int8_to_floats(byte, scale, COUNT, BLOCK, read);
        for (int i = 0; i < COUNT; i++) {
            const double step = (double)scale[i / BLOCK], magnitude = fabs((double)value[i]);
            half_sum[i] += (double)bf16_to_float(half[i]);
            byte_sum[i] += (double)read[i];
            assert_true(fabs((double)bf16_to_float(half[i]) - (double)value[i]) <=
                        magnitude / 128 + 1e-40);
            assert_true(fabs((double)read[i] - (double)value[i]) <= step * 1.0001);
        }
    }
    const double error = 5 * 0.5 / sqrt(DRAWS);
    for (int i = 0; i < COUNT; i++) {
        const double step = (double)scale[i / BLOCK];
        assert_true(fabs(half_sum[i] / DRAWS - (double)value[i]) <=
                    error * fabs((double)value[i]) / 64 + 1e-40);
        assert_true(fabs(byte_sum[i] / DRAWS - (double)value[i]) <= error * step + 1e-40);
    }
}

static void what_has_a_short_form_keeps_it(void **state)
{
    static const float value[6] = {1.0F, -1.5F, 0.0F, 127.0F, -127.0F, 64.0F};
    const struct random_stream stream = stream_of(3);
    bf16 half[6];
    int8_t byte[6];
    float scale[1], read[6];
    (void)state;
    bf16_of_floats_stochastic(&stream, value, 6, half);
    for (int i = 0; i < 6; i++)
        assert_true(bf16_to_float(half[i]) == value[i]);
    int8_of_floats_stochastic(&stream, value, 6, 6, byte, scale);
    int8_to_floats(byte, scale, 6, 6, read);
    assert_true(scale[0] == 1.0F && read[0] == 1.0F && read[3] == 127.0F && read[4] == -127.0F &&
                read[5] == 64.0F);
}

static void the_largest_numbers_stay_finite(void **state)
{
    float value[64], scale[1], read[64];
    bf16 half[64];
    int8_t byte[64];
    (void)state;
    for (int i = 0; i < 64; i++)
        value[i] = i % 2 ? FLT_MAX : -FLT_MAX;
    for (uint32_t round = 0; round < 20; round++) {
        const struct random_stream stream = stream_of(round);
        bf16_of_floats_stochastic(&stream, value, 64, half);
        int8_of_floats_stochastic(&stream, value, 64, 64, byte, scale);
        int8_to_floats(byte, scale, 64, 64, read);
        for (int i = 0; i < 64; i++) {
            assert_true(isfinite(bf16_to_float(half[i])));
            assert_true(isfinite(read[i]) && abs(byte[i]) >= 126);
        }
    }
}

/* The draw of an element does not depend on the elements before it. */
static void the_draw_of_an_element_is_its_own(void **state)
{
    float value[COUNT], scale[BLOCKS], other_scale[BLOCKS];
    bf16 all[COUNT], some[COUNT];
    int8_t all_bytes[COUNT], by_other_blocks[COUNT];
    const struct random_stream stream = stream_of(9);
    (void)state;
    for (int i = 0; i < COUNT; i++)
        value[i] = sinf((float)i);
    for (int i = 0; i < COUNT; i += BLOCK)
        value[i] = 1.0F; /* all blocks have the same scale */
    bf16_of_floats_stochastic(&stream, value, COUNT, all);
    bf16_of_floats_stochastic(&stream, value, COUNT / 2, some);
    assert_memory_equal(all, some, COUNT / 2 * sizeof *some);
    int8_of_floats_stochastic(&stream, value, COUNT, BLOCK, all_bytes, scale);
    int8_of_floats_stochastic(&stream, value, COUNT, COUNT, by_other_blocks, other_scale);
    assert_memory_equal(all_bytes, by_other_blocks, sizeof all_bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_level_gives_the_same_bits),
        cmocka_unit_test(the_mean_stays),
        cmocka_unit_test(what_has_a_short_form_keeps_it),
        cmocka_unit_test(the_largest_numbers_stay_finite),
        cmocka_unit_test(the_draw_of_an_element_is_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
