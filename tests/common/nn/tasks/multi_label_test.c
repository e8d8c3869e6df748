#include "common/nn/tasks/metrics.h"

#include "tests/support/test.h"

#include <math.h>
#include <stdbool.h>

static const struct loss_rule plain = {0};

static void labels_are_bits_in_all_columns_or_in_none(void **state)
{
    static const struct {
        double column[3];
        const char *message; /* NULL: accepted */
    } cases[] = {{{0, 1, 1}, NULL},
                 {{(double)NAN, (double)NAN, (double)NAN}, NULL},
                 {{0, 0.5, 1}, "label in column 2: expected 0 or 1, found 0.5"},
                 {{0, (double)NAN, 1}, "expected labels in all columns or in none, found 2 of 3"}};
    static const float half[] = {0, 0.5F, 1}, broken[] = {NAN, 0, NAN};
    struct error err = {0};
    float row[3];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const enum error_code rc = task_multi_label.label_take(cases[i].column, 3, 0, row, &err);
        if (cases[i].message)
            assert_failed(rc, ERROR_INPUT, cases[i].message, &err);
        else
            assert_ok(task_multi_label.label_check(row, 3, &err), &err);
    }
    assert_false(task_multi_label.has_label((const float[]){NAN, NAN}));
    assert_fails(task_multi_label.label_check(half, 3, &err), ERROR_CORRUPT, "column 2", &err);
    assert_fails(task_multi_label.label_check(broken, 3, &err), ERROR_CORRUPT, "column 2", &err);
    assert_true(task_of_columns(2) == TASK_MULTI_LABEL);
}

static void binary_loss_is_the_mean_over_labels(void **state)
{
    const float logits[] = {0, 2, -1, 3, 1, 1};
    const float label[] = {1, 0, NAN, NAN, 1, 1};
    float gradient[6] = {9, 9, 9, 9, 9, 9};
    const struct loss_result loss = task_multi_label.loss(&plain, logits, label, 3, 2, gradient);
    const double first = (log(2) + log(1 + exp(2))) / 2, last = log(1 + exp(-1));
    (void)state;
    assert_int_equal(loss.label_count, 2);
    /* two of the four labels are right; a logit of 0 predicts no label */
    assert_int_equal(loss.correct_count, 1);
    assert_true(fabs(loss.sum - first - last) < 1e-6);
    assert_true(fabs((double)gradient[0] + 0.5 / 4) < 1e-6);
    assert_true(gradient[2] == 0 && gradient[3] == 0);
}

static void huge_logits_stay_finite(void **state)
{
    const float logits[] = {1000, -1000}, truth[] = {0, 1};
    float gradient[2];
    (void)state;
    const struct loss_result loss = task_multi_label.loss(&plain, logits, truth, 1, 2, gradient);
    assert_true(fabs(loss.sum - 1000) < 1e-3);
    assert_true(gradient[0] == 0.5F && gradient[1] == -0.5F);
}

static void nan_and_infinity_are_seen_in_the_loss(void **state)
{
    const float bad[][2] = {{NAN, 0}, {0, NAN}, {INFINITY, 0}};
    const float truth[] = {0, 0};
    (void)state;
    for (int i = 0; i < 3; i++)
        assert_true(!(fabs(task_multi_label.loss(&plain, bad[i], truth, 1, 2, NULL).sum) <
                      (double)INFINITY));
}

#define ROWS    ((size_t)6)
#define CLASSES ((size_t)5)

static void fill(float *logits)
{
    for (size_t i = 0; i < ROWS * CLASSES; i++)
        logits[i] = 3 * sinf((float)i * 2.3F);
}

static double mean(struct loss_result loss)
{
    return loss.sum / (double)loss.label_count;
}

static void binary_gradient_agrees_with_central_differences(void **state)
{
    float logits[ROWS * CLASSES], label[ROWS * CLASSES], gradient[ROWS * CLASSES];
    const float step = 1.0F / 128;
    (void)state;
    fill(logits);
    for (size_t i = 0; i < ROWS * CLASSES; i++)
        label[i] = i / CLASSES == 3 ? NAN : (float)(i % 3 == 0);
    (void)task_multi_label.loss(&plain, logits, label, ROWS, (uint32_t)CLASSES, gradient);
    for (size_t i = 0; i < ROWS * CLASSES; i++) {
        const float kept = logits[i];
        logits[i] = kept + step;
        const double above =
            mean(task_multi_label.loss(&plain, logits, label, ROWS, (uint32_t)CLASSES, NULL));
        logits[i] = kept - step;
        const double below =
            mean(task_multi_label.loss(&plain, logits, label, ROWS, (uint32_t)CLASSES, NULL));
        logits[i] = kept;
        assert_true(fabs((above - below) / 2 * 128 - (double)gradient[i]) < 3e-5);
    }
}

static void several_labels_are_predicted_above_zero(void **state)
{
    const float logits[] = {1, -1, 0, 1, 5, 5, 2, -2};
    const float label[] = {1, 1, 1, 0, NAN, NAN, 1, 0};
    double confusion[7] = {0};
    const double expected[7] = {2, 0, 0, 1, 1, 1, 1}; /* every label of the last row is right */
    (void)state;
    task_multi_label.count(logits, label, 4, 2, false, confusion);
    assert_memory_equal(confusion, expected, sizeof expected);
}

/* The expected values are from torch 2.13: BCEWithLogitsLoss(pos_weight=[2, 0.5, 3]). */
static void what_a_label_weighs_is_torchs_pos_weight(void **state)
{
    static const float logits[] = {0.5F, -1.25F, 2, 1.5F, 0.25F, -0.75F},
                       label[] = {1, 0, 0, 0, 1, 1};
    static const double weight[] = {2, 0.5, 3};
    static const double expected[] = {-0.125846878, 0.0371166877,  0.146799505,
                                      0.136262402,  -0.0364852883, -0.339589357};
    const struct loss_rule rule = {.class_weight = weight};
    float gradient[6];
    (void)state;
    const struct loss_result loss = task_multi_label.loss(&rule, logits, label, 2, 3, gradient);
    assert_true(fabs(loss_mean(&loss) - 1.45450115) < 3e-7);
    for (int i = 0; i < 6; i++)
        assert_true(fabs((double)gradient[i] - expected[i]) < 1e-7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_are_bits_in_all_columns_or_in_none),
        cmocka_unit_test(binary_loss_is_the_mean_over_labels),
        cmocka_unit_test(huge_logits_stay_finite),
        cmocka_unit_test(nan_and_infinity_are_seen_in_the_loss),
        cmocka_unit_test(binary_gradient_agrees_with_central_differences),
        cmocka_unit_test(several_labels_are_predicted_above_zero),
        cmocka_unit_test(what_a_label_weighs_is_torchs_pos_weight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
