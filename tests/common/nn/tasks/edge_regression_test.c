/* Labels of edges use the losses, metrics and lines of the node task that has the same labels. */
#include "tests/common/nn/tasks/edge_task_check.h"

static const struct task *const task = &task_edge_regression;
static const float label[] = {0.5F, 1, -3};

static void it_is_the_task_of_nodes_on_edges(void **state)
{
    static const float output[] = {2, -1, 0};
    (void)state;
    edge_task_check_rows(task, &task_node_regression, label, output, 1, METRIC_RMSE,
                         sqrt((1.5 * 1.5 + 2 * 2 + 3 * 3) / 3));
}

static void a_label_is_the_number_itself(void **state)
{
    struct error err = {0};
    float row[3];
    (void)state;
    assert_ok(task_take_labels(task, label, 3, 1, row, &err), &err);
    assert_memory_equal(row, label, sizeof label);
}

static void edges_are_its_examples(void **state)
{
    (void)state;
    assert_string_equal(task->name, "edge_regression");
    edge_task_check_examples(task);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_the_task_of_nodes_on_edges),
        cmocka_unit_test(a_label_is_the_number_itself),
        cmocka_unit_test(edges_are_its_examples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
