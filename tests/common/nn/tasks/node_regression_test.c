#include "common/nn/tasks/tally.h"

#include "tests/support/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct loss_rule plain = {0};

static const struct task *const task = &task_node_regression;

static void labels_are_numbers_in_all_columns_or_in_none(void **state)
{
    static const struct {
        double column[3];
        const char *message; /* NULL: accepted */
    } cases[] = {
        {{0.25, -1e30, 3}, NULL},
        {{(double)NAN, (double)NAN, (double)NAN}, NULL},
        {{0, 1e39, 1}, "label in column 2: expected a number of single precision"},
        {{0, (double)INFINITY, 1}, "label in column 2: expected a number of single precision"},
        {{0, (double)NAN, 1}, "expected labels in all columns or in none, found 2 of 3"}};
    static const float broken[] = {NAN, 0, NAN}, endless[] = {0, 1, INFINITY};
    struct error err = {0};
    float row[3];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const enum error_code rc = task->label_take(cases[i].column, 3, 0, row, &err);
        if (cases[i].message)
            assert_failed(rc, ERROR_INPUT, cases[i].message, &err);
        else
            assert_ok(task->label_check(row, 3, &err), &err);
    }
    assert_fails(task->label_check(broken, 3, &err), ERROR_CORRUPT, "column 2", &err);
    assert_fails(task->label_check(endless, 3, &err), ERROR_CORRUPT, "column 3", &err);
    /* without a setting, such columns select a class task */
    for (uint32_t columns = 1; columns < 4; columns++)
        assert_true(task->takes_columns(columns) &&
                    task_of_columns(columns) != TASK_NODE_REGRESSION);
}

static void the_loss_is_the_mean_square(void **state)
{
    static const float output[] = {1, 2, 9, 9, -1, 0}, label[] = {0, 2, NAN, NAN, 1, 0.5F};
    float gradient[6];
    (void)state;
    const struct loss_result loss = task->loss(&plain, output, label, 3, 2, gradient);
    assert_int_equal(loss.label_count, 2);
    assert_true(fabs(loss.sum - (0.5 + 2.125)) < 1e-12);
    assert_true(gradient[0] == 0.5F && gradient[1] == 0 && gradient[2] == 0 && gradient[3] == 0);
    assert_true(gradient[4] == -1 && gradient[5] == -0.25F);
}

static double mean_loss(const float *output, const float *label)
{
    const struct loss_result loss = task->loss(&plain, output, label, 4, 3, NULL);
    return loss.sum / (double)loss.label_count;
}

static void the_gradient_agrees_with_central_differences(void **state)
{
    float output[12], label[12], gradient[12];
    (void)state;
    for (int i = 0; i < 12; i++) {
        output[i] = 3 * sinf((float)i * 2.3F);
        label[i] = i / 3 == 2 ? NAN : cosf((float)i);
    }
    (void)task->loss(&plain, output, label, 4, 3, gradient);
    for (int i = 0; i < 12; i++) {
        const float kept = output[i], step = 1.0F / 128;
        output[i] = kept + step;
        const double above = mean_loss(output, label);
        output[i] = kept - step;
        const double below = mean_loss(output, label);
        output[i] = kept;
        assert_true(fabs((above - below) * 64 - (double)gradient[i]) < 3e-5);
    }
}

static double measured(const struct tally *tally, enum metric metric)
{
    struct error err = {0};
    double value = 0;
    assert_ok(tally_measure(tally, metric, &value, &err), &err);
    return value;
}

static void metrics_are_those_of_all_rows_however_they_are_cut(void **state)
{
    static const float output[] = {1, 2, 5, -1}, label[] = {0, 2, NAN, 2};
    (void)state;
    for (size_t step = 1; step <= 4; step *= 2) {
        struct tally tally = {0};
        struct error err = {0};
        assert_ok(tally_init(&tally,
                             &(struct tally_form){.task = task, .class_count = 1, .all = true},
                             &err),
                  &err);
        for (size_t i = 0; i < 4; i += step)
            assert_ok(tally_add(&tally, output + i, label + i, step, &err), &err);
        assert_true(fabs(measured(&tally, METRIC_RMSE) - sqrt(10.0 / 3)) < 1e-12);
        assert_true(fabs(measured(&tally, METRIC_MAE) - 4.0 / 3) < 1e-12);
        assert_true(fabs(measured(&tally, METRIC_LOSS) - 10.0 / 3) < 1e-12);
        assert_true(fabs(measured(&tally, METRIC_R2) - (1 - 10 / (8.0 / 3))) < 1e-12);
        assert_true(isnan(measured(&tally, METRIC_ACCURACY)));
        tally_release(&tally);
    }
}

static void expect_line(const float *output, const float *label, const char *expected)
{
    char line[256] = "";
    assert_true(task_print_size(task, 2) < sizeof line);
    assert_int_equal(task->print(line, output, label, 2), strlen(expected));
    assert_string_equal(line, expected);
}

static void a_line_has_label_and_prediction(void **state)
{
    (void)state;
    expect_line((const float[]){0.5F, -2}, (const float[]){0.1F, 3}, "0.100000001 3,0.5 -2,");
    expect_line((const float[]){0.5F, -2}, (const float[]){NAN, NAN}, ",0.5 -2,");
}

/* The expected values are from torch 2.13: L1Loss(), HuberLoss(), HuberLoss(delta=0.75). */
static void other_losses_are_those_of_torch(void **state)
{
    static const float output[] = {1, 2, -1, 0.25F, 3, -2}, label[] = {0, 2, 1, 0, 2.5F, 1};
    static const struct {
        struct loss_rule rule;
        double mean;
        float gradient[6];
    } cases[] = {
        {{.kind = LOSS_L1},
         1.125,
         {0.166666672F, 0, -0.166666672F, 0.166666672F, 0.166666672F, -0.166666672F}},
        {{.kind = LOSS_HUBER, .huber_delta = 1},
         0.776041687,
         {0.166666672F, 0, -0.166666672F, 0.0416666679F, 0.0833333358F, -0.166666672F}},
        {{.kind = LOSS_HUBER, .huber_delta = 0.75},
         0.635416687,
         {0.125F, 0, -0.125F, 0.0416666679F, 0.0833333358F, -0.125F}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float gradient[6];
        const struct loss_result loss = task->loss(&cases[i].rule, output, label, 3, 2, gradient);
        assert_true(fabs(loss_mean(&loss) - cases[i].mean) < 1e-7);
        for (int c = 0; c < 6; c++)
            assert_true(gradient[c] == cases[i].gradient[c]);
    }
}

static double r2_of(const float *output, const float *label, const struct loss_rule *rule)
{
    struct tally tally = {0};
    struct error err = {0};
    const struct tally_form form = {.task = task, .class_count = 2, .loss = *rule, .all = true};
    assert_ok(tally_init(&tally, &form, &err), &err);
    assert_ok(tally_add(&tally, output, label, 3, &err), &err);
    const double r2 = measured(&tally, METRIC_R2);
    tally_release(&tally);
    return r2;
}

/* The expected values are from scikit-learn: r2_score(), multioutput="uniform_average". */
static void r2_is_the_mean_of_columns(void **state)
{
    static const float output[] = {1, 2, -1, 0.25F, 3, -2}, label[] = {0, 2, 1, 0, 2.5F, 1};
    static const float flat[] = {0, 2, 1, 2, 2.5F, 2}, met[] = {1, 2, -1, 2, 3, 2},
                       missed[] = {1, 2, -1, 2, 3, 1};
    (void)state;
    assert_true(fabs(r2_of(output, label, &plain) + 2.0945723684210527) < 1e-12);
    assert_true(fabs(r2_of(output, label, &(struct loss_rule){.kind = LOSS_L1}) +
                     2.0945723684210527) < 1e-12);
    assert_true(fabs(r2_of(met, flat, &plain) - 0.17105263157894746) < 1e-12);
    assert_true(fabs(r2_of(missed, flat, &plain) + 0.32894736842105254) < 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_are_numbers_in_all_columns_or_in_none),
        cmocka_unit_test(the_loss_is_the_mean_square),
        cmocka_unit_test(the_gradient_agrees_with_central_differences),
        cmocka_unit_test(metrics_are_those_of_all_rows_however_they_are_cut),
        cmocka_unit_test(a_line_has_label_and_prediction),
        cmocka_unit_test(other_losses_are_those_of_torch),
        cmocka_unit_test(r2_is_the_mean_of_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
