#include "common/base/memory.h"
#include "common/nn/tasks/metrics.h"

#include "tests/support/test.h"

#include <math.h>

static void f1_agrees_with_the_hand(void **state)
{
    /* tp 2 0 1, fp 1 0 2, fn 1 0 0 give the F1 values 2/3, 0 (empty class) and 1/2 */
    const double confusion[9] = {2, 0, 1, 1, 0, 2, 1, 0, 0};
    (void)state;
    assert_true(fabs(metrics_macro_f1(confusion, 3, true) - (2.0 / 3 + 0.5) / 3) < 1e-12);
    assert_true(fabs(metrics_macro_f1(confusion, 3, false) - (2.0 / 3 + 0.5) / 2) < 1e-12);
    assert_true(fabs(metrics_micro_f1(confusion, 3) - 6.0 / 10) < 1e-12);
    const double nothing[3] = {0};
    assert_true(metrics_micro_f1(nothing, 1) == 0);
    assert_true(metrics_macro_f1(nothing, 1, false) == 0);
}

static double auc(const float *score, const uint8_t *truth, size_t count)
{
    struct error err = {0};
    double area = -1;
    assert_ok(metrics_roc_auc(score, truth, count, &area, &err), &err);
    return area;
}

static void area_under_the_curve_agrees_with_the_hand(void **state)
{
    const float score[] = {0.1F, 0.4F, 0.35F, 0.8F};
    const uint8_t truth[] = {0, 0, 1, 1};
    const uint8_t reversed[] = {1, 1, 0, 0};
    const float tied[] = {1, 1, 1, 1};
    (void)state;
    assert_true(fabs(auc(score, truth, 4) - 0.75) < 1e-12);
    assert_true(fabs(auc(score, reversed, 4) - 0.25) < 1e-12);
    assert_true(fabs(auc(tied, truth, 4) - 0.5) < 1e-12);
}

static void area_is_the_share_of_pairs_in_order(void **state)
{
    enum { COUNT = 60 };
    float score[COUNT];
    uint8_t truth[COUNT];
    double pairs = 0, ordered = 0;
    (void)state;
    for (int i = 0; i < COUNT; i++) {
        score[i] = (float)(i * 7 % 11); /* gives many ties */
        truth[i] = (uint8_t)(i * 5 % 3 == 0);
    }
    for (int i = 0; i < COUNT; i++)
        for (int j = 0; j < COUNT; j++)
            if (truth[i] && !truth[j]) {
                pairs++;
                ordered += score[i] > score[j] ? 1 : score[i] < score[j] ? 0 : 0.5;
            }
    assert_true(fabs(auc(score, truth, COUNT) - ordered / pairs) < 1e-12);
}

static double precision(const float *score, const uint8_t *truth, size_t count)
{
    struct error err = {0};
    double mean = -1;
    assert_ok(metrics_average_precision(score, truth, count, &mean, &err), &err);
    return mean;
}

/* scikit-learn 1.3: average_precision_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]) is 0.8333. */
static void average_precision_agrees_with_the_hand(void **state)
{
    const float score[] = {0.1F, 0.4F, 0.35F, 0.8F};
    const uint8_t truth[] = {0, 0, 1, 1}, none[] = {0, 0, 0, 0};
    const float tied[] = {1, 1, 1, 1};
    (void)state;
    assert_true(fabs(precision(score, truth, 4) - (1 + 2.0 / 3) / 2) < 1e-12);
    assert_true(fabs(precision(tied, truth, 4) - 0.5) < 1e-12);
    assert_true(isnan(precision(score, none, 4)));
    assert_true(isnan(precision(score, truth, 0)));
}

static void one_class_alone_has_no_area(void **state)
{
    const float score[] = {1, 2};
    const uint8_t truth[] = {1, 1};
    (void)state;
    assert_true(isnan(auc(score, truth, 2)));
    assert_true(isnan(auc(score, truth, 0)));
}

static void area_says_when_memory_is_out(void **state)
{
    const float score[] = {1, 2};
    const uint8_t truth[] = {1, 0};
    struct error err = {0};
    double area = 0;
    (void)state;
    memory_fail_after(0);
    const enum error_code rc = metrics_roc_auc(score, truth, 2, &area, &err);
    memory_fail_after(-1);
    assert_failed(rc, ERROR_NO_MEMORY, "sorted scores", &err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(f1_agrees_with_the_hand),
        cmocka_unit_test(area_under_the_curve_agrees_with_the_hand),
        cmocka_unit_test(area_is_the_share_of_pairs_in_order),
        cmocka_unit_test(average_precision_agrees_with_the_hand),
        cmocka_unit_test(one_class_alone_has_no_area),
        cmocka_unit_test(area_says_when_memory_is_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
