/* The tables: every row has a name of its own, and all that it must have. */
#include "common/nn/tasks/task.h"

#include "tests/support/test.h"

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
        assert_true(task->loss && task->count_size && task->count && task->print);
        assert_true(task_has_metric(task, METRIC_LOSS, 2));
        for (int i = 0; i < task->metric_count; i++)
            assert_true(!task->metric[i].needs_scores || task->score);
    }
    assert_null(task_of(TASK_UNKNOWN));
    assert_null(task_of(TASK_NONE));
    assert_int_equal(task_named("none", 4), TASK_NONE);
    assert_int_equal(task_named("", 0), TASK_UNKNOWN);
    assert_int_equal(task_named("single", 6), TASK_UNKNOWN);
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
    assert_false(task_has_metric(&task_single_label, METRIC_ROC_AUC, 3)); /* of two classes alone */
    assert_false(task_has_metric(&task_multi_label, METRIC_ROC_AUC, 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_whole_and_found_by_its_name),
        cmocka_unit_test(every_metric_has_names_and_someone_who_measures_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
