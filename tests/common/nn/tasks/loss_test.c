#include "common/nn/tasks/loss.h"

#include "tests/support/test.h"

#include <math.h>
#include <stdbool.h>

static void softmax_of_equal_logits_is_the_logarithm_of_the_class_count(void **state)
{
    const float logits[] = {2, 2, 2, 2};
    const int32_t label[] = {3};
    float gradient[4];
    const struct loss_result loss = loss_softmax(logits, label, 1, 4, gradient);
    (void)state;
    assert_true(fabs(loss.sum - log(4)) < 1e-6);
    assert_int_equal(loss.label_count, 1);
    assert_int_equal(loss.correct_count, 0); /* ties go to the lower class */
    assert_true(fabs((double)gradient[0] - 0.25) < 1e-6);
    assert_true(fabs((double)gradient[3] + 0.75) < 1e-6);
}

static void softmax_counts_only_rows_with_a_label(void **state)
{
    const float logits[] = {0, 1, 5, 0, 3, 1};
    const int32_t label[] = {1, -1, 1};
    float gradient[6] = {9, 9, 9, 9, 9, 9};
    const struct loss_result loss = loss_softmax(logits, label, 3, 2, gradient);
    (void)state;
    assert_int_equal(loss.label_count, 2);
    assert_int_equal(loss.correct_count, 1);
    assert_true(fabs(loss.sum - (log(1 + exp(-1)) + log(1 + exp(2)))) < 1e-6);
    assert_true(gradient[2] == 0 && gradient[3] == 0);
    assert_true(fabs((double)gradient[0] - 0.5 / (1 + exp(1))) < 1e-6);
}

static void no_labels_give_no_loss_and_no_gradient(void **state)
{
    const float logits[] = {0, 1};
    const int32_t label[] = {-1};
    float gradient[2] = {9, 9};
    const struct loss_result loss = loss_softmax(logits, label, 1, 2, gradient);
    (void)state;
    assert_true(loss.sum == 0 && loss.label_count == 0);
    assert_true(gradient[0] == 0 && gradient[1] == 0);
}

static void huge_logits_stay_finite(void **state)
{
    const float logits[] = {1000, -1000};
    const int32_t wrong[] = {1};
    const float truth[] = {0, 1};
    float gradient[2];
    (void)state;
    const struct loss_result single = loss_softmax(logits, wrong, 1, 2, gradient);
    assert_true(fabs(single.sum - 2000) < 1e-3);
    assert_true(gradient[0] == 1 && gradient[1] == -1);
    const struct loss_result multi = loss_binary(logits, truth, 1, 2, gradient);
    assert_true(fabs(multi.sum - 1000) < 1e-3);
    assert_true(gradient[0] == 0.5F && gradient[1] == -0.5F);
}

static bool is_finite(struct loss_result loss)
{
    return isfinite(loss.sum);
}

static void nan_and_infinity_are_seen_in_the_loss(void **state)
{
    const float bad[][2] = {{NAN, 0}, {0, NAN}, {INFINITY, 0}};
    const int32_t label[] = {0};
    const float truth[] = {0, 0};
    (void)state;
    for (int i = 0; i < 3; i++) {
        assert_false(is_finite(loss_softmax(bad[i], label, 1, 2, NULL)));
        assert_false(is_finite(loss_binary(bad[i], truth, 1, 2, NULL)));
    }
}

static void binary_loss_is_the_mean_over_labels(void **state)
{
    const float logits[] = {0, 2, -1, 3, 1, 1};
    const float label[] = {1, 0, NAN, NAN, 1, 1};
    float gradient[6] = {9, 9, 9, 9, 9, 9};
    const struct loss_result loss = loss_binary(logits, label, 3, 2, gradient);
    const double first = (log(2) + log(1 + exp(2))) / 2, last = log(1 + exp(-1));
    (void)state;
    assert_int_equal(loss.label_count, 2);
    assert_int_equal(loss.correct_count, 1); /* of four bits two are right: 0 predicts no label */
    assert_true(fabs(loss.sum - first - last) < 1e-6);
    assert_true(fabs((double)gradient[0] + 0.5 / 4) < 1e-6);
    assert_true(gradient[2] == 0 && gradient[3] == 0);
}

enum { ROWS = 6, CLASSES = 5 };

static void fill(float *logits)
{
    for (int i = 0; i < ROWS * CLASSES; i++)
        logits[i] = 3 * sinf((float)i * 2.3F);
}

static double mean(struct loss_result loss)
{
    return loss.sum / (double)loss.label_count;
}

static void softmax_gradient_agrees_with_central_differences(void **state)
{
    const int32_t label[ROWS] = {0, 4, -1, 2, 2, 1};
    float logits[ROWS * CLASSES], gradient[ROWS * CLASSES];
    const float step = 1.0F / 128;
    (void)state;
    fill(logits);
    (void)loss_softmax(logits, label, ROWS, CLASSES, gradient);
    for (int i = 0; i < ROWS * CLASSES; i++) {
        const float kept = logits[i];
        logits[i] = kept + step;
        const double above = mean(loss_softmax(logits, label, ROWS, CLASSES, NULL));
        logits[i] = kept - step;
        const double below = mean(loss_softmax(logits, label, ROWS, CLASSES, NULL));
        logits[i] = kept;
        assert_true(fabs((above - below) / 2 * 128 - (double)gradient[i]) < 3e-5);
    }
}

static void binary_gradient_agrees_with_central_differences(void **state)
{
    float logits[ROWS * CLASSES], label[ROWS * CLASSES], gradient[ROWS * CLASSES];
    const float step = 1.0F / 128;
    (void)state;
    fill(logits);
    for (int i = 0; i < ROWS * CLASSES; i++)
        label[i] = i / CLASSES == 3 ? NAN : (float)(i % 3 == 0);
    (void)loss_binary(logits, label, ROWS, CLASSES, gradient);
    for (int i = 0; i < ROWS * CLASSES; i++) {
        const float kept = logits[i];
        logits[i] = kept + step;
        const double above = mean(loss_binary(logits, label, ROWS, CLASSES, NULL));
        logits[i] = kept - step;
        const double below = mean(loss_binary(logits, label, ROWS, CLASSES, NULL));
        logits[i] = kept;
        assert_true(fabs((above - below) / 2 * 128 - (double)gradient[i]) < 3e-5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(softmax_of_equal_logits_is_the_logarithm_of_the_class_count),
        cmocka_unit_test(softmax_counts_only_rows_with_a_label),
        cmocka_unit_test(no_labels_give_no_loss_and_no_gradient),
        cmocka_unit_test(huge_logits_stay_finite),
        cmocka_unit_test(nan_and_infinity_are_seen_in_the_loss),
        cmocka_unit_test(binary_loss_is_the_mean_over_labels),
        cmocka_unit_test(softmax_gradient_agrees_with_central_differences),
        cmocka_unit_test(binary_gradient_agrees_with_central_differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
