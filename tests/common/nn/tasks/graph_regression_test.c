/* Graph labels that are numbers use the losses, metrics and lines of the node task. */
#include "common/nn/tasks/tally.h"

#include "tests/support/test.h"

#include <math.h>
#include <string.h>

static const struct task *const task = &task_graph_regression, *const of_nodes =
                                                                   &task_node_regression;

static void it_is_the_task_of_nodes_on_graphs(void **state)
{
    static const float output[] = {2, -1, 0, 3}, row[] = {1, 1, NAN, NAN};
    const struct tally_form form = {.task = task, .class_count = 2, .all = true};
    struct error err = {0};
    struct tally tally = {0};
    double value = 0;
    float gradient[4], other[4];
    (void)state;
    for (int i = 0; i < task->loss_count; i++) {
        const struct loss_rule rule = {.kind = task->losses[i], .huber_delta = 1};
        const struct loss_result loss = task->loss(&rule, output, row, 2, 2, gradient);
        const struct loss_result same = of_nodes->loss(&rule, output, row, 2, 2, other);
        assert_true(loss.sum >= same.sum && loss.sum <= same.sum && loss.label_count == 1);
        assert_memory_equal(gradient, other, sizeof output);
    }
    assert_ok(tally_init(&tally, &form, &err), &err);
    assert_ok(tally_add(&tally, output, row, 2, &err), &err);
    assert_ok(tally_measure(&tally, METRIC_MAE, &value, &err), &err);
    assert_true(fabs(value - 1.5) < 1e-12);
    tally_release(&tally);
}

static void graphs_are_its_examples(void **state)
{
    const enum task_kind kind = task_named("graph_regression", strlen("graph_regression"));
    (void)state;
    assert_ptr_equal(task_of(kind), task);
    assert_true(task_has(kind, TASK_HAS_GRAPHS) &&
                task_has(kind, TASK_LABELS_NODES | TASK_HAS_GRAPHS) &&
                !task_has(kind, TASK_HOLDS_OUT_EDGES));
    assert_true(task->takes_columns(1) && task->takes_columns(3) && !task->takes_columns(0));
    assert_false(task_has(TASK_NODE_REGRESSION, TASK_HAS_GRAPHS) ||
                 task_has(TASK_NONE, TASK_HAS_GRAPHS));
    assert_true(task_has(TASK_NODE_REGRESSION, TASK_LABELS_NODES | TASK_HAS_GRAPHS) &&
                !task_has(TASK_NONE, TASK_LABELS_NODES | TASK_HAS_GRAPHS) &&
                !task_has(TASK_EDGE_REGRESSION, TASK_LABELS_NODES | TASK_HAS_GRAPHS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_the_task_of_nodes_on_graphs),
        cmocka_unit_test(graphs_are_its_examples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
