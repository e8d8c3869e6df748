/* The rules for rows equal their definition in double, and the dense Adam where both must agree. */
#include "common/nn/optimizer.h"
#include "common/nn/sparse_optimizer.h"

#include "tests/support/test.h"

#include <math.h>

enum { WIDTH = 7, UPDATES = 25 };

static const double rate = 0.03;

static void gradient_of(int update, float out[WIDTH])
{
    for (int i = 0; i < WIDTH; i++)
        out[i] = sinf((float)(update * WIDTH + i) * 1.3F);
}

struct row {
    double value[WIDTH], first[WIDTH], second[WIDTH];
};

/* Updates a row as dgl.optim.SparseAdam and SparseAdagrad define it. */
static void reference_update(enum sparse_rule rule, int t, const float *gradient, struct row *row)
{
    for (int i = 0; i < WIDTH; i++) {
        const double g = (double)gradient[i];
        if (rule == SPARSE_SGD) {
            row->value[i] -= rate * g;
        } else if (rule == SPARSE_ADAGRAD) {
            row->first[i] += g * g;
            row->value[i] -= rate * g / (sqrt(row->first[i]) + 1e-10);
        } else {
            row->first[i] = 0.9 * row->first[i] + 0.1 * g;
            row->second[i] = 0.999 * row->second[i] + 0.001 * g * g;
            const double m = row->first[i] / (1 - pow(0.9, t));
            const double v = row->second[i] / (1 - pow(0.999, t));
            row->value[i] -= rate * m / (sqrt(v) + 1e-8);
        }
    }
}

static void rules_do_what_they_say(void **state)
{
    (void)state;
    for (enum sparse_rule rule = 0; rule < SPARSE_RULE_COUNT; rule++) {
        float value[WIDTH], first[WIDTH] = {0}, second[WIDTH] = {0}, gradient[WIDTH];
        struct row expected = {0};
        sparse_first_values(4, 0, 17, WIDTH, value);
        for (int i = 0; i < WIDTH; i++)
            expected.value[i] = (double)value[i];
        for (int t = 1; t <= UPDATES; t++) {
            gradient_of(t, gradient);
            reference_update(rule, t, gradient, &expected);
            sparse_update_row(rule, rate, (uint32_t)t, WIDTH, value, gradient, first, second);
            for (int i = 0; i < WIDTH; i++)
                if (fabs((double)value[i] - expected.value[i]) > 2e-6)
                    fail_msg("rule %d, update %d, column %d is %.9g, expected %.9g", (int)rule, t,
                             i, (double)value[i], expected.value[i]);
        }
    }
}

/* A case computed by hand: the first update of Adam moves each value by the rate against the sign
 * of its gradient. */
static void the_first_update_of_adam_is_the_rate(void **state)
{
    float value[2] = {1, 1}, gradient[2] = {0.25F, -1000}, first[2] = {0}, second[2] = {0};
    (void)state;
    sparse_update_row(SPARSE_ADAM, 0.5, 1, 2, value, gradient, first, second);
    assert_true(fabs((double)value[0] - 0.5) < 1e-6 && fabs((double)value[1] - 1.5) < 1e-6);
    assert_true(fabs((double)first[0] - 0.025) < 1e-8 &&
                fabs((double)second[0] - 0.0000625) < 1e-10);
}

/* A row that every round reads has the bits of a dense parameter. A row that is skipped keeps its
 * moments and its count. */
static void a_row_read_by_every_round_is_a_dense_parameter(void **state)
{
    const struct optimizer_config config = {
        .rule = RULE_ADAM, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8};
    float dense[WIDTH], row[WIDTH], moments[4][WIDTH] = {{0}}, one[WIDTH], other[WIDTH];
    (void)state;
    sparse_first_values(4, 0, 17, WIDTH, dense);
    memcpy(row, dense, sizeof row);
    for (int t = 1; t <= UPDATES; t++) {
        gradient_of(t, one);
        gradient_of(t, other);
        (void)optimizer_step(&config, rate, (uint64_t)t, WIDTH, dense, one, moments[0], moments[1]);
        sparse_update_row(SPARSE_ADAM, rate, (uint32_t)t, WIDTH, row, other, moments[2],
                          moments[3]);
    }
    assert_memory_equal(row, dense, sizeof row);
    assert_memory_equal(moments[0], moments[2], sizeof moments[0]);
}

static void first_values_are_of_seed_type_and_node_alone(void **state)
{
    enum { NODES = 2000, COLUMNS = 64 };
    float a[COLUMNS], b[COLUMNS];
    double sum = 0, squares = 0;
    (void)state;
    for (uint32_t node = 0; node < NODES; node++) {
        sparse_first_values(9, 0, node, COLUMNS, a);
        sparse_first_values(9, 0, node, COLUMNS, b);
        assert_memory_equal(a, b, sizeof a);
        for (int i = 0; i < COLUMNS; i++) {
            assert_true(a[i] >= -0.125F && a[i] < 0.125F); /* 1 / sqrt(64) */
            sum += (double)a[i];
            squares += (double)a[i] * (double)a[i];
        }
    }
    const double count = (double)NODES * COLUMNS;
    assert_true(fabs(sum / count) < 5 * 0.125 / sqrt(3 * count));
    assert_true(fabs(squares / count / (0.125 * 0.125 / 3) - 1) < 0.02);
    sparse_first_values(9, 0, 5, COLUMNS, a);
    sparse_first_values(9, 1, 5, COLUMNS, b);
    assert_memory_not_equal(a, b, sizeof a);
    sparse_first_values(8, 0, 5, COLUMNS, b);
    assert_memory_not_equal(a, b, sizeof a);
    sparse_first_values(9, 0, 6, COLUMNS, b);
    assert_memory_not_equal(a, b, sizeof a);
}

static void rules_keep_what_they_need(void **state)
{
    (void)state;
    assert_int_equal(sparse_rule_moments(SPARSE_ADAM), 2);
    assert_int_equal(sparse_rule_moments(SPARSE_ADAGRAD), 1);
    assert_int_equal(sparse_rule_moments(SPARSE_SGD), 0);
    assert_true(sparse_rule_counts_updates(SPARSE_ADAM));
    assert_false(sparse_rule_counts_updates(SPARSE_ADAGRAD));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_do_what_they_say),
        cmocka_unit_test(the_first_update_of_adam_is_the_rate),
        cmocka_unit_test(a_row_read_by_every_round_is_a_dense_parameter),
        cmocka_unit_test(first_values_are_of_seed_type_and_node_alone),
        cmocka_unit_test(rules_keep_what_they_need),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
