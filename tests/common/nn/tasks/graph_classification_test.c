/* Labels of graphs use the losses, metrics and lines of the node task that has the same labels. */
#include "common/nn/tasks/tally.h"

#include "tests/support/test.h"

#include <string.h>

static const struct task *const task = &task_graph_classification, *const of_nodes =
                                                                       &task_single_label;

static void it_is_the_task_of_nodes_on_graphs(void **state)
{
    const struct loss_rule plain = {0};
    const struct tally_form form = {.task = task, .class_count = 2, .all = true};
    struct error err = {0};
    struct tally tally = {0};
    struct json_writer json = {0};
    float gradient[6], other[6];
    char line[200], other_line[200];
    (void)state;
    static const float output[] = {2, -1, 0, 3, 1, 1};
    static const int32_t row[] = {0, 1, 1};
    const struct loss_result loss = task->loss(&plain, output, row, 3, 2, gradient);
    const struct loss_result same = of_nodes->loss(&plain, output, row, 3, 2, other);
    assert_true(loss.sum >= same.sum && loss.sum <= same.sum && loss.label_count == 3);
    assert_memory_equal(gradient, other, sizeof output);
    const size_t size = task->print(line, output, row, 2);
    assert_int_equal(size, of_nodes->print(other_line, output, row, 2));
    assert_memory_equal(line, other_line, size);
    assert_ok(tally_init(&tally, &form, &err), &err);
    assert_ok(tally_add(&tally, output, row, 3, &err), &err);
    assert_ok(tally_put_json(&tally, "test", &json, &err), &err);
    assert_ok(json_writer_finish(&json, &err), &err);
    assert_non_null(strstr(json.text, "\"graphs\":3"));
    json_writer_release(&json);
    tally_release(&tally);
}

static void graphs_are_its_examples(void **state)
{
    const enum task_kind kind = task_named("graph_classification", strlen("graph_classification"));
    (void)state;
    assert_ptr_equal(task_of(kind), task);
    assert_true(task_has(kind, TASK_HAS_GRAPHS) &&
                task_has(kind, TASK_LABELS_NODES | TASK_HAS_GRAPHS) &&
                !task_has(kind, TASK_LABELS_NODES));
    assert_false(task_has(kind, TASK_HOLDS_OUT_EDGES) || task_has(kind, TASK_LABELS_EDGES));
    assert_true(task->takes_columns(1) && !task->takes_columns(2) && !task->takes_columns(0));
    assert_string_equal(task_subject(kind), "graph");
    assert_int_equal(task_of_columns(1), TASK_SINGLE_LABEL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_the_task_of_nodes_on_graphs),
        cmocka_unit_test(graphs_are_its_examples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
