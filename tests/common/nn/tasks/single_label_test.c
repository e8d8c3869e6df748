#include "common/nn/tasks/metrics.h"

#include "tests/support/test.h"

#include <math.h>
#include <stdbool.h>

static const struct loss_rule plain = {0};

/* Compares with values of torch, to the precision of a float. */
static void assert_near_all(const float *found, const double *expected, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!(fabs((double)found[i] - expected[i]) < 1e-7))
            fail_msg("value %zu: expected %.9g, found %.9g", i, expected[i], (double)found[i]);
}

static enum error_code take(double value, uint32_t class_limit, int32_t *label)
{
    struct error err = {0};
    return task_single_label.label_take(&value, 1, class_limit, label, &err);
}

static void a_label_is_a_class_or_none(void **state)
{
    int32_t label = 7;
    struct error err = {0};
    (void)state;
    assert_int_equal(take(2, 3, &label), ERROR_NONE);
    assert_int_equal(label, 2);
    assert_int_equal(take(3, 3, &label), ERROR_INPUT);
    assert_int_equal(take(0.5, 0, &label), ERROR_INPUT);
    assert_int_equal(take(-2, 0, &label), ERROR_INPUT);
    assert_int_equal(take(-1, 0, &label), ERROR_NONE);
    assert_false(task_single_label.has_label(&label));
    assert_int_equal(take((double)NAN, 0, &label), ERROR_NONE);
    assert_int_equal(label, -1);
    assert_fails(task_single_label.label_check(&(int32_t){3}, 3, &err), ERROR_CORRUPT,
                 "expected -1 to 2, found 3", &err);
    assert_int_equal(task_single_label.label_check(&(int32_t){-1}, 3, &err), ERROR_NONE);
    assert_int_equal(task_single_label.label_check(&(int32_t){-2}, 3, &err), ERROR_CORRUPT);
    assert_true(task_of_columns(1) == TASK_SINGLE_LABEL);
    assert_false(task_single_label.takes_columns(2));
}

static void softmax_of_equal_logits_is_the_logarithm_of_the_class_count(void **state)
{
    const float logits[] = {2, 2, 2, 2};
    const int32_t label[] = {3};
    float gradient[4];
    const struct loss_result loss = task_single_label.loss(&plain, logits, label, 1, 4, gradient);
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
    const struct loss_result loss = task_single_label.loss(&plain, logits, label, 3, 2, gradient);
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
    const struct loss_result loss = task_single_label.loss(&plain, logits, label, 1, 2, gradient);
    (void)state;
    assert_true(loss.sum == 0 && loss.label_count == 0);
    assert_true(gradient[0] == 0 && gradient[1] == 0);
}

static void huge_logits_stay_finite(void **state)
{
    const float logits[] = {1000, -1000};
    const int32_t wrong[] = {1};
    float gradient[2];
    (void)state;
    const struct loss_result loss = task_single_label.loss(&plain, logits, wrong, 1, 2, gradient);
    assert_true(fabs(loss.sum - 2000) < 1e-3);
    assert_true(gradient[0] == 1 && gradient[1] == -1);
}

static void nan_and_infinity_are_seen_in_the_loss(void **state)
{
    const float bad[][2] = {{NAN, 0}, {0, NAN}, {INFINITY, 0}};
    const int32_t label[] = {0};
    (void)state;
    for (int i = 0; i < 3; i++)
        assert_true(!(fabs(task_single_label.loss(&plain, bad[i], label, 1, 2, NULL).sum) <
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

static void softmax_gradient_agrees_with_central_differences(void **state)
{
    const int32_t label[ROWS] = {0, 4, -1, 2, 2, 1};
    float logits[ROWS * CLASSES], gradient[ROWS * CLASSES];
    const float step = 1.0F / 128;
    (void)state;
    fill(logits);
    (void)task_single_label.loss(&plain, logits, label, ROWS, (uint32_t)CLASSES, gradient);
    for (size_t i = 0; i < ROWS * CLASSES; i++) {
        const float kept = logits[i];
        logits[i] = kept + step;
        const double above =
            mean(task_single_label.loss(&plain, logits, label, ROWS, (uint32_t)CLASSES, NULL));
        logits[i] = kept - step;
        const double below =
            mean(task_single_label.loss(&plain, logits, label, ROWS, (uint32_t)CLASSES, NULL));
        logits[i] = kept;
        assert_true(fabs((above - below) / 2 * 128 - (double)gradient[i]) < 3e-5);
    }
}

static void single_labels_are_counted_by_class(void **state)
{
    const float logits[] = {1,         0, 0, /* 0 */ 0,      2, 1,
                            /* 1 */ 3, 3, 0, /* tie: 0 */ 0, 0, 9 /* 2 */};
    const int32_t label[] = {0, 2, 1, -1};
    double confusion[9] = {0};
    const double expected[9] = {1, 0, 0, 1, 1, 0, 0, 1, 1};
    (void)state;
    task_single_label.count(logits, label, 4, 3, false, confusion);
    assert_memory_equal(confusion, expected, sizeof expected);
}

static void counts_of_parts_add_up(void **state)
{
    const float logits[] = {1, 0, 0, 2, 3, 1, 0, 1};
    const int32_t label[] = {0, 0, 1, 1};
    double whole[6] = {0}, parts[6] = {0};
    (void)state;
    task_single_label.count(logits, label, 4, 2, false, whole);
    task_single_label.count(logits, label, 1, 2, false, parts);
    task_single_label.count(logits + 2, label + 1, 3, 2, false, parts);
    assert_memory_equal(whole, parts, sizeof whole);
}

/* scikit-learn 1.8: f1_score([0, 0, 2, 2], [0, 3, 2, 0], average="macro") = 0.3888..., over the
 * labels 0, 2 and 3. Class 3 is only predicted; classes 1 and 4 do not occur. */
static void macro_f1_leaves_out_classes_that_are_not_there(void **state)
{
    const float logits[] = {9,      0, 0, 0, 0, /**/ 0, 0, 0, 9, 0,
                            /**/ 0, 0, 9, 0, 0, /**/ 9, 0, 0, 0, 0};
    const int32_t label[] = {0, 0, 2, 2};
    double confusion[15] = {0};
    (void)state;
    task_single_label.count(logits, label, 4, 5, false, confusion);
    assert_true(fabs(metrics_macro_f1(confusion, 5, false) - (0.5 + 2.0 / 3 + 0) / 3) < 1e-12);
    assert_true(fabs(metrics_micro_f1(confusion, 5) - 0.5) < 1e-12);
}

/* The expected values are from torch 2.13: CrossEntropyLoss(weight=w), (label_smoothing=0.1) and
 * both, with a row that has no label. */
static void weights_and_smoothing_are_those_of_torch(void **state)
{
    static const float logits[] = {0.5F, -1.25F, 2, 1.5F, 0.25F, -0.75F, -2, 0, 1, 3, 2.5F, -1};
    static const int32_t label[] = {2, 0, -1, 1};
    static const double weight[] = {0.5, 2, 1.25};
    static const struct {
        struct loss_rule rule;
        double mean, gradient[12];
    } cases[] = {
        {{.class_weight = weight},
         0.647184074,
         {0.0589400604, 0.010242248, -0.0691823214, -0.0375412889, 0.0274448805, 0.0100964084, 0, 0,
          0, 0.328236192, -0.334248066, 0.00601185625}},
        {{.label_smoothing = 0.1},
         0.641235948,
         {0.0478289425, -0.000868864649, -0.0469600931, -0.071630992, 0.0575010814, 0.0141299069, 0,
          0, 0, 0.194036484, -0.186682791, -0.00735370163}},
        {{.class_weight = weight, .label_smoothing = 0.1},
         0.782422602,
         {0.0544956103, -0.00753553165, -0.0469600931, -0.0142835835, 0.013783833, 0.000499757938,
          0, 0, 0, 0.311482847, -0.306158155, -0.00532469992}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float gradient[12];
        const struct loss_result loss =
            task_single_label.loss(&cases[i].rule, logits, label, 4, 3, gradient);
        assert_int_equal(loss.label_count, 3);
        assert_true(fabs(loss_mean(&loss) - cases[i].mean) < 3e-7);
        assert_near_all(gradient, cases[i].gradient, 12);
    }
}

static void rows_that_weigh_nothing_have_no_loss_and_no_gradient(void **state)
{
    static const float logits[] = {1, 2};
    static const int32_t label[] = {1};
    static const double weight[] = {1, 0};
    const struct loss_rule rule = {.class_weight = weight};
    float gradient[2] = {9, 9};
    (void)state;
    const struct loss_result loss = task_single_label.loss(&rule, logits, label, 1, 2, gradient);
    assert_true(isnan(loss_mean(&loss)) && loss_rows(&loss) == 0);
    assert_true(gradient[0] == 0 && gradient[1] == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_label_is_a_class_or_none),
        cmocka_unit_test(softmax_of_equal_logits_is_the_logarithm_of_the_class_count),
        cmocka_unit_test(softmax_counts_only_rows_with_a_label),
        cmocka_unit_test(no_labels_give_no_loss_and_no_gradient),
        cmocka_unit_test(huge_logits_stay_finite),
        cmocka_unit_test(nan_and_infinity_are_seen_in_the_loss),
        cmocka_unit_test(softmax_gradient_agrees_with_central_differences),
        cmocka_unit_test(single_labels_are_counted_by_class),
        cmocka_unit_test(counts_of_parts_add_up),
        cmocka_unit_test(macro_f1_leaves_out_classes_that_are_not_there),
        cmocka_unit_test(weights_and_smoothing_are_those_of_torch),
        cmocka_unit_test(rows_that_weigh_nothing_have_no_loss_and_no_gradient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
