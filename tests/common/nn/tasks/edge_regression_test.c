/* Labels of edges go through losses, metrics and lines of the task of nodes that has the same labels. */
#include "common/nn/tasks/tally.h"

#include "tests/support/test.h"

#include <math.h>
#include <string.h>

static const struct task *const task = &task_edge_regression, *const of_nodes =
                                                                  &task_node_regression;

static void it_is_the_task_of_nodes_on_edges(void **state)
{
    const struct loss_rule plain = {0};
    const struct tally_form form = {.task = task, .class_count = 1, .all = true};
    struct error err = {0};
    struct tally tally = {0};
    struct json_writer json = {0};
    float gradient[6], other[6];
    char line[200], other_line[200];
    double value = 0;
    (void)state;
    static const float output[] = {2, -1, 0}, label[] = {0.5F, 1, -3};
    float row[3];
    assert_ok(task_take_labels(task, label, 3, 1, row, &err), &err);
    assert_memory_equal(row, label, sizeof label);
    const struct loss_result loss = task->loss(&plain, output, row, 3, 1, gradient);
    const struct loss_result same = of_nodes->loss(&plain, output, row, 3, 1, other);
    assert_true(loss.sum >= same.sum && loss.sum <= same.sum && loss.label_count == 3);
    assert_memory_equal(gradient, other, sizeof output);
    const size_t size = task->print(line, output, row, 1);
    assert_int_equal(size, of_nodes->print(other_line, output, row, 1));
    assert_memory_equal(line, other_line, size);
    assert_ok(tally_init(&tally, &form, &err), &err);
    assert_ok(tally_add(&tally, output, row, 3, &err), &err);
    assert_ok(tally_measure(&tally, METRIC_RMSE, &value, &err), &err);
    assert_true(fabs(value - sqrt((1.5 * 1.5 + 2 * 2 + 3 * 3) / 3)) < 1e-6);
    assert_ok(tally_put_json(&tally, "test", &json, &err), &err);
    assert_ok(json_writer_finish(&json, &err), &err);
    assert_non_null(strstr(json.text, "\"edges\":3"));
    json_writer_release(&json);
    tally_release(&tally);
}

static void edges_are_its_examples(void **state)
{
    const enum task_kind kind = task_named("edge_regression", strlen("edge_regression"));
    (void)state;
    assert_ptr_equal(task_of(kind), task);
    assert_true(task_learns_pairs(kind) && task_labels_edges(kind) && !task_has_labels(kind));
    assert_true(task_learns_pairs(TASK_LINK_PREDICTION) &&
                !task_labels_edges(TASK_LINK_PREDICTION));
    for (uint32_t columns = 1; columns < 4; columns++)
        assert_false(task->takes_columns(columns));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_the_task_of_nodes_on_edges),
        cmocka_unit_test(edges_are_its_examples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
