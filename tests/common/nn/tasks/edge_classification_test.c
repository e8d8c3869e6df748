/* Labels of edges use the losses, metrics and lines of the node task that has the same labels. */
#include "tests/common/nn/tasks/edge_task_check.h"

static const struct task *const task = &task_edge_classification;

static void it_is_the_task_of_nodes_on_edges(void **state)
{
    static const float output[] = {2, -1, 0, 3, 1, 1}, label[] = {0, 1, 1};
    (void)state;
    edge_task_check_rows(task, &task_single_label, label, output, 2, METRIC_ACCURACY, 2.0 / 3);
}

static void a_label_is_the_number_of_a_class(void **state)
{
    static const float label[] = {0, 1, 1}, third[] = {2}, none[] = {-1}, half[] = {0.5F};
    struct error err = {0};
    int32_t row[3];
    (void)state;
    assert_ok(task_take_labels(task, label, 3, 2, row, &err), &err);
    assert_true(row[0] == 0 && row[1] == 1 && row[2] == 1);
    assert_fails(task_take_labels(task, third, 1, 2, row, &err), ERROR_CORRUPT,
                 "label 0 is 2: expected one of edge_classification with 2 outputs", &err);
    assert_fails(task_take_labels(task, none, 1, 2, row, &err), ERROR_CORRUPT, "-1", &err);
    assert_fails(task_take_labels(task, half, 1, 2, row, &err), ERROR_CORRUPT, "0.5", &err);
}

static void edges_are_its_examples(void **state)
{
    (void)state;
    assert_string_equal(task->name, "edge_classification");
    edge_task_check_examples(task);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_the_task_of_nodes_on_edges),
        cmocka_unit_test(a_label_is_the_number_of_a_class),
        cmocka_unit_test(edges_are_its_examples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
