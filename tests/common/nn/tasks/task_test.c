/* The tables: every row has a unique name and all required fields. */
#include "common/nn/tasks/task.h"

#include "tests/support/test.h"

#include <math.h>
#include <string.h>

static void every_row_is_whole_and_found_by_its_name(void **state)
{
    (void)state;
    for (enum task_kind kind = TASK_UNKNOWN + 1; kind < TASK_NONE; kind++) {
        const struct task *task = task_of(kind);
        assert_string_equal(task->name, task_name(kind));
        assert_int_equal(task_named(task->name, strlen(task->name)), kind);
        assert_true(task->takes_columns && task->label_take && task->label_width);
        assert_true(task->label_check && task->has_label && task->class_count && task->describe);
        assert_non_null(task->count_size);
        assert_int_equal(task_example_of(kind), task->example);
        assert_string_equal(task_subject(kind), task_examples[task->example].name);
        assert_int_equal(task_has_classes(kind, ~0U), task->is_class_number);
        if (task->example != EXAMPLE_PAIR)
            assert_true(task->loss && task->count && task->print);
        assert_true(task_has_metric(task, METRIC_LOSS, 2));
        for (int i = 0; i < task->metric_count; i++)
            assert_true(!task->metric[i].needs_scores || (task->score && task->score_columns));
        assert_true(task->loss_count > 0 || task->example == EXAMPLE_PAIR);
    }
    assert_null(task_of(TASK_UNKNOWN));
    assert_null(task_of(TASK_NONE));
    assert_int_equal(task_named("none", 4), TASK_NONE);
    assert_int_equal(task_named("", 0), TASK_UNKNOWN);
    assert_int_equal(task_named("single", 6), TASK_UNKNOWN);
}

/* Labels, splits and heads must be consistent for each kind of example. */
static void traits_of_examples_agree(void **state)
{
    (void)state;
    const unsigned labels = TASK_LABELS_NODES | TASK_LABELS_EDGES | TASK_HAS_GRAPHS;
    const unsigned heads = TASK_HAS_DECODER | TASK_HAS_READOUT;
    for (int e = 0; e < EXAMPLE_COUNT; e++) {
        const struct task_example_row *row = &task_examples[e];
        const unsigned label = row->traits & labels, head = row->traits & heads;
        assert_true(row->name[0] && strncmp(row->plural, row->name, strlen(row->name)) == 0);
        assert_true((label & (label - 1)) == 0 && (head & (head - 1)) == 0);
        assert_true((label == 0) == ((row->traits & TASK_RANKS) != 0));
        assert_true((row->traits & TASK_HOLDS_OUT_EDGES) == 0 || head == TASK_HAS_DECODER);
        assert_true((head == TASK_HAS_READOUT) == (label == TASK_HAS_GRAPHS));
        assert_true((head == 0) == (label == TASK_LABELS_NODES));
    }
    for (enum task_kind kind = TASK_UNKNOWN; kind < TASK_KIND_COUNT;
         kind += TASK_NONE - TASK_UNKNOWN) {
        assert_false(task_has(kind, ~0U) || task_has_classes(kind, ~0U));
        assert_int_equal(task_example_of(kind), EXAMPLE_NODE);
        assert_string_equal(task_subject(kind), "node");
    }
}

static void every_metric_has_names_and_someone_who_measures_it(void **state)
{
    (void)state;
    for (enum metric metric = 0; metric < METRIC_COUNT; metric++) {
        bool is_measured = false;
        assert_true(metric_table[metric].name[0] && metric_table[metric].title[0]);
        for (enum task_kind kind = TASK_UNKNOWN + 1; kind < TASK_NONE; kind++)
            is_measured = is_measured || task_has_metric(task_of(kind), metric, 2);
        assert_true(is_measured);
    }
    /* available with two classes only */
    assert_false(task_has_metric(&task_single_label, METRIC_ROC_AUC, 3));
    assert_true(task_has_metric(&task_multi_label, METRIC_ROC_AUC, 3));
    assert_true(task_metric_needs_all(&task_multi_label, METRIC_ROC_AUC));
    assert_false(task_metric_needs_all(&task_single_label, METRIC_ROC_AUC));
}

static void every_loss_is_of_a_task_and_the_first_is_taken(void **state)
{
    (void)state;
    for (enum loss kind = LOSS_AUTO + 1; kind < LOSS_COUNT; kind++) {
        bool is_taken = false;
        for (enum task_kind t = TASK_UNKNOWN + 1; t < TASK_NONE; t++)
            is_taken = is_taken || task_loss_of(task_of(t), kind) == kind;
        assert_true(is_taken && loss_name(kind)[0]);
    }
    assert_int_equal(task_loss_of(&task_node_regression, LOSS_AUTO), LOSS_L2);
    assert_int_equal(task_loss_of(&task_node_regression, LOSS_BINARY), LOSS_COUNT);
}

/* Weights of 1 change nothing. A row of weight 2 counts as two rows, divided by the number of
 * rows present or by the sum of their class weights. */
static void check_row_weights(const struct loss_rule *rule)
{
    enum { ROWS = 4, CLASSES = 3 };
    static const float output[ROWS * CLASSES] = {1, 0.5F, -1, 2, 2, 0, -3, 1, 0.25F, 0, 1, 5};
    static const int32_t label[ROWS] = {0, 2, -1, 1};
    static const float one[ROWS] = {1, 1, 1, 1}, weight[ROWS] = {2, 0.5F, 7, 0.25F};
    static const float none[ROWS] = {0, 0, 7, 0};
    const struct task *task = &task_single_label;
    float plain[ROWS * CLASSES], weighted[ROWS * CLASSES];
    double sum = 0;
    struct loss_result a = task_loss(task, rule, output, label, NULL, ROWS, CLASSES, plain);
    struct loss_result b = task_loss(task, rule, output, label, one, ROWS, CLASSES, weighted);
    assert_true(fabs(a.sum - b.sum) < 1e-12 && fabs(a.weight_sum - b.weight_sum) < 1e-12);
    assert_int_equal(a.label_count, b.label_count);
    assert_int_equal(a.correct_count, b.correct_count);
    for (int i = 0; i < ROWS * CLASSES; i++)
        assert_true(fabs((double)(plain[i] - weighted[i])) < 1e-6);
    b = task_loss(task, rule, output, label, weight, ROWS, CLASSES, weighted);
    assert_int_equal(b.label_count, 3);
    for (size_t i = 0; i < ROWS; i++) {
        const struct loss_result own =
            task->loss(rule, output + i * CLASSES, label + i, 1, CLASSES, NULL);
        sum += (double)weight[i] * own.sum * (double)own.label_count;
        for (size_t c = 0; c < CLASSES; c++)
            assert_true(fabs((double)(weighted[i * CLASSES + c] -
                                      weight[i] * plain[i * CLASSES + c])) < 1e-6);
    }
    assert_true(fabs(b.sum - sum) < 1e-9);
    b = task_loss(task, rule, output, label, weight, ROWS, CLASSES, NULL);
    assert_true(fabs(b.sum - sum) < 1e-9);
    b = task_loss(task, rule, output, label, none, ROWS, CLASSES, weighted);
    assert_true(loss_rows(&b) == 0 && b.correct_count == 0 && isnan(loss_mean(&b)));
    for (int i = 0; i < ROWS * CLASSES; i++)
        assert_true(fabsf(weighted[i]) <= 0);
}

static void rows_count_in_the_loss_by_their_weights(void **state)
{
    static const double class_weight[] = {0.5, 3, 1};
    (void)state;
    check_row_weights(&(struct loss_rule){0});
    check_row_weights(&(struct loss_rule){.label_smoothing = 0.2});
    check_row_weights(&(struct loss_rule){.class_weight = class_weight});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_whole_and_found_by_its_name),
        cmocka_unit_test(traits_of_examples_agree),
        cmocka_unit_test(every_metric_has_names_and_someone_who_measures_it),
        cmocka_unit_test(rows_count_in_the_loss_by_their_weights),
        cmocka_unit_test(every_loss_is_of_a_task_and_the_first_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
