#include "common/base/memory.h"
#include "common/nn/tasks/tally.h"

#include "tests/support/test.h"

#include <math.h>

static const struct tally_form form = {.task = &task_link_prediction, .class_count = 1};

static double measured(const struct tally *tally, enum metric metric)
{
    struct error err = {0};
    double value = -1;
    assert_ok(tally_measure(tally, metric, &value, &err), &err);
    return value;
}

/* The ranks are 1, 2.5 (one score above, one equal) and 11. */
static void ranks_make_the_metrics_of_ranks(void **state)
{
    struct error err = {0};
    struct tally tally, sum;
    const struct loss_result loss = {.sum = 3, .label_count = 4, .correct_count = 2};
    const float score[] = {2, 1, 0, 1};
    const uint8_t truth[] = {1, 1, 0, 0};
    (void)state;
    assert_ok(tally_init(&tally, &form, &err), &err);
    assert_ok(tally_add_pairs(&tally, &loss, score, truth, 4, &err), &err);
    tally_add_rank(&tally, 0, 0);
    tally_add_rank(&tally, 1, 1);
    tally_add_rank(&tally, 10, 0);
    assert_true(fabs(measured(&tally, METRIC_MRR) - (1 + 0.4 + 1.0 / 11) / 3) < 1e-12);
    assert_true(fabs(measured(&tally, METRIC_HITS_1) - 1.0 / 3) < 1e-12);
    assert_true(fabs(measured(&tally, METRIC_HITS_3) - 2.0 / 3) < 1e-12);
    assert_true(fabs(measured(&tally, METRIC_HITS_10) - 2.0 / 3) < 1e-12);
    assert_true(fabs(measured(&tally, METRIC_LOSS) - 0.75) < 1e-12);
    assert_true(fabs(measured(&tally, METRIC_ROC_AUC) - 3.5 / 4) < 1e-12);
    /* A tally merged with itself has the same shares. */
    assert_ok(tally_init(&sum, &form, &err), &err);
    for (int i = 0; i < 2; i++)
        assert_ok(tally_merge(&sum, &tally.loss, tally.count, tally.score, tally.truth,
                              tally.score_count, &err),
                  &err);
    for (enum metric m = 0; m < METRIC_COUNT; m++)
        if (task_has_metric(&task_link_prediction, m, 1))
            assert_true(fabs(measured(&sum, m) - measured(&tally, m)) < 1e-12);
    assert_true(isnan(measured(&sum, METRIC_ACCURACY)));
    tally_release(&sum);
    tally_release(&tally);
}

static void nodes_have_no_labels(void **state)
{
    struct error err = {0};
    double column = 1;
    (void)state;
    assert_false(task_has(TASK_LINK_PREDICTION, TASK_LABELS_NODES));
    assert_true(task_has(TASK_LINK_PREDICTION, TASK_HOLDS_OUT_EDGES));
    assert_fails(task_link_prediction.label_take(&column, 1, 0, NULL, &err), ERROR_INPUT,
                 "expected no label", &err);
    assert_int_equal(task_link_prediction.label_width(7), 0);
    for (uint32_t columns = 1; columns < 5; columns++)
        assert_int_not_equal(task_of_columns(columns), TASK_LINK_PREDICTION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_make_the_metrics_of_ranks),
        cmocka_unit_test(nodes_have_no_labels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
