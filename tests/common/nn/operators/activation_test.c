#include "common/base/memory.h"
#include "common/nn/operators/activation.h"

#include "tests/support/test.h"

#include <math.h>

enum { ROWS = 300, DIM = 300 }; /* wider than one chunk of draws */

static struct activation dropping(float share)
{
    struct activation activation = {.relu = true};
    activation_set_dropout(&activation, share, random_stream_of(1, RANDOM_DROPOUT, 2, 3, 4));
    return activation;
}

static float *ones(void)
{
    float *rows = memory_alloc((size_t)ROWS * DIM, sizeof *rows);
    for (size_t i = 0; i < (size_t)ROWS * DIM; i++)
        rows[i] = 1;
    return rows;
}

static void bias_and_relu_come_before_dropout(void **state)
{
    const float bias[] = {1, -1, 0};
    const struct activation activation = {.bias = bias, .relu = true, .scale = 1};
    float rows[] = {0, 0, 2, -3, 4, -1};
    const float expected[] = {1, 0, 2, 0, 3, 0};
    (void)state;
    activation_forward(&activation, rows, 3, 0, 2, NULL);
    for (int i = 0; i < 6; i++)
        assert_true(rows[i] == expected[i]);
}

static void dropout_keeps_the_expectation(void **state)
{
    static const float shares[] = {0.0001F, 0.1F, 0.5F, 0.9F};
    (void)state;
    for (size_t k = 0; k < sizeof shares / sizeof *shares; k++) {
        const struct activation activation = dropping(shares[k]);
        float *rows = ones();
        double sum = 0, zeros = 0;
        activation_forward(&activation, rows, DIM, 0, ROWS, NULL);
        for (size_t i = 0; i < (size_t)ROWS * DIM; i++) {
            sum += (double)rows[i];
            zeros += rows[i] == 0;
            assert_true(rows[i] == 0 || rows[i] == activation.scale);
        }
        const double n = ROWS * DIM, p = (double)shares[k];
        assert_true(fabs(zeros / n - p) < 5 * sqrt(p / n) + 1.0 / 65536);
        assert_true(fabs(sum / n - 1) < 5 * sqrt(p / (1 - p) / n) + 1e-4);
        memory_free(rows);
    }
}

static void a_share_is_finer_than_a_byte(void **state)
{
    const struct activation activation = dropping(0.001F);
    (void)state;
    assert_int_equal(activation.drop_below, 66);
    assert_true(fabs((double)activation.scale - 65536.0 / (65536 - 66)) < 1e-6);
}

static void a_draw_below_the_threshold_drops(void **state)
{
    struct activation activation = dropping(0.5F);
    uint32_t word[4];
    float kept[] = {1}, dropped[] = {1};
    (void)state;
    random_block(&activation.stream, 9, 0, word);
    activation.drop_below = word[0] & 0xffffU;
    activation_forward(&activation, kept, 1, 9, 1, NULL);
    activation.drop_below++;
    activation_forward(&activation, dropped, 1, 9, 1, NULL);
    assert_true(kept[0] == activation.scale);
    assert_true(dropped[0] == 0);
}

static void draws_do_not_depend_on_how_rows_are_cut(void **state)
{
    const struct activation activation = dropping(0.5F);
    float *whole = ones(), *cut = ones();
    (void)state;
    activation_forward(&activation, whole, DIM, 0, ROWS, NULL);
    activation_forward(&activation, cut, DIM, 0, 7, NULL);
    activation_forward(&activation, cut + (size_t)7 * DIM, DIM, 7, ROWS - 7, NULL);
    assert_memory_equal(whole, cut, (size_t)ROWS * DIM * sizeof *whole);
    memory_free(whole);
    memory_free(cut);
}

static void rows_columns_and_streams_draw_differently(void **state)
{
    struct activation activation = dropping(0.5F);
    float *one = ones(), *other = ones();
    (void)state;
    activation_forward(&activation, one, DIM, 0, ROWS, NULL);
    assert_memory_not_equal(one, one + DIM, DIM * sizeof *one);
    assert_memory_not_equal(one, one + 256, 40 * sizeof *one);
    activation.stream.round++;
    activation_forward(&activation, other, DIM, 0, ROWS, NULL);
    assert_memory_not_equal(one, other, (size_t)ROWS * DIM * sizeof *one);
    memory_free(one);
    memory_free(other);
}

static void nan_passes_relu(void **state)
{
    const struct activation activation = {.relu = true, .scale = 1};
    float rows[] = {NAN, -INFINITY, INFINITY};
    (void)state;
    activation_forward(&activation, rows, 3, 0, 1, NULL);
    assert_true(isnan(rows[0]));
    assert_true(rows[1] == 0);
    assert_true(isinf(rows[2]));
}

static void bits_say_what_is_above_zero(void **state)
{
    static const size_t widths[] = {1, 31, 32, 33, 63, 64, 65, 100, 256, 300};
    const struct activation activation = dropping(0.5F);
    (void)state;
    for (size_t k = 0; k < sizeof widths / sizeof *widths; k++) {
        const size_t dim = widths[k], words = activation_words(dim);
        uint64_t active[ROWS * 5];
        float rows[7 * DIM];
        size_t count = 0;
        for (size_t i = 0; i < 7 * dim; i++)
            rows[i] = sinf((float)i);
        rows[2 * dim] = NAN;
        activation_forward(&activation, rows, dim, 40, 7, active);
        for (size_t row = 0; row < 7; row++)
            for (size_t c = 0; c < words * 64; c++) {
                const bool bit = active[row * words + c / 64] >> c % 64 & 1;
                assert_int_equal(bit, c < dim && rows[row * dim + c] > 0);
                count += bit;
            }
        assert_true(dim < 31 || (count > 7 * dim / 8 && count < 7 * dim / 2));
    }
}

static void backward_passes_what_was_active_and_kept(void **state)
{
    enum { COLUMNS = 67 };
    const struct activation activation = dropping(0.5F);
    const uint64_t active[] = {1ULL << 1 | 1ULL << 63, 1ULL << 2, 1, 0};
    float gradient[2 * COLUMNS];
    (void)state;
    for (int i = 0; i < 2 * COLUMNS; i++)
        gradient[i] = (float)(i + 1);
    activation_backward(&activation, active, gradient, COLUMNS, 2);
    for (int i = 0; i < 2 * COLUMNS; i++) {
        const bool passes = i == 1 || i == 63 || i == 66 || i == COLUMNS;
        assert_true(gradient[i] == (passes ? 2 * (float)(i + 1) : 0));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bias_and_relu_come_before_dropout),
        cmocka_unit_test(dropout_keeps_the_expectation),
        cmocka_unit_test(a_share_is_finer_than_a_byte),
        cmocka_unit_test(a_draw_below_the_threshold_drops),
        cmocka_unit_test(draws_do_not_depend_on_how_rows_are_cut),
        cmocka_unit_test(rows_columns_and_streams_draw_differently),
        cmocka_unit_test(nan_passes_relu),
        cmocka_unit_test(bits_say_what_is_above_zero),
        cmocka_unit_test(backward_passes_what_was_active_and_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
