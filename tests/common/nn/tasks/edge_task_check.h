/*
 * edge_task_check - checks what every task with edge labels must satisfy: its losses, gradients and
 * lines are those of the node task with the same labels, its tally counts edges, and its examples
 * are edges.
 */
#ifndef TESTS_COMMON_NN_TASKS_EDGE_TASK_CHECK_H
#define TESTS_COMMON_NN_TASKS_EDGE_TASK_CHECK_H

#include "common/nn/tasks/tally.h"

#include "tests/support/test.h"

#include <math.h>
#include <string.h>

enum { EDGE_TASK_ROWS = 3, EDGE_TASK_CLASSES_MAX = 2 };

/* Checks the rows of label [EDGE_TASK_ROWS], as edges carry them, and output [EDGE_TASK_ROWS,
 * class_count]. `expected` is the metric of these rows. */
static inline void edge_task_check_rows(const struct task *task, const struct task *of_nodes,
                                        const float *label, const float *output,
                                        uint32_t class_count, enum metric metric, double expected)
{
    const struct loss_rule plain = {0};
    const struct tally_form form = {.task = task, .class_count = class_count, .all = true};
    struct error err = {0};
    struct tally tally = {0};
    struct json_writer json = {0};
    float gradient[EDGE_TASK_ROWS * EDGE_TASK_CLASSES_MAX];
    float other[EDGE_TASK_ROWS * EDGE_TASK_CLASSES_MAX];
    char line[200], other_line[200];
    int32_t row[EDGE_TASK_ROWS]; /* holds four-byte labels, integers or floats */
    double value = 0;
    assert_ok(task_take_labels(task, label, EDGE_TASK_ROWS, class_count, row, &err), &err);
    const struct loss_result loss =
        task->loss(&plain, output, row, EDGE_TASK_ROWS, class_count, gradient);
    const struct loss_result same =
        of_nodes->loss(&plain, output, row, EDGE_TASK_ROWS, class_count, other);
    assert_true(loss.sum >= same.sum && loss.sum <= same.sum);
    assert_int_equal(loss.label_count, EDGE_TASK_ROWS);
    assert_memory_equal(gradient, other, (size_t)EDGE_TASK_ROWS * class_count * sizeof *gradient);
    const size_t size = task->print(line, output, row, class_count);
    assert_int_equal(size, of_nodes->print(other_line, output, row, class_count));
    assert_memory_equal(line, other_line, size);
    assert_ok(tally_init(&tally, &form, &err), &err);
    assert_ok(tally_add(&tally, output, row, EDGE_TASK_ROWS, &err), &err);
    assert_ok(tally_measure(&tally, metric, &value, &err), &err);
    assert_true(fabs(value - expected) < 1e-6);
    assert_ok(tally_put_json(&tally, "test", &json, &err), &err);
    assert_ok(json_writer_finish(&json, &err), &err);
    assert_non_null(strstr(json.text, "\"edges\":3"));
    json_writer_release(&json);
    tally_release(&tally);
}

static inline void edge_task_check_examples(const struct task *task)
{
    const enum task_kind kind = task_named(task->name, strlen(task->name));
    assert_ptr_equal(task_of(kind), task);
    assert_true(task_has(kind, TASK_HOLDS_OUT_EDGES) && task_has(kind, TASK_LABELS_EDGES) &&
                !task_has(kind, TASK_LABELS_NODES));
    assert_true(task_has(TASK_LINK_PREDICTION, TASK_HOLDS_OUT_EDGES) &&
                !task_has(TASK_LINK_PREDICTION, TASK_LABELS_EDGES));
    for (uint32_t columns = 1; columns < 4; columns++)
        assert_false(task->takes_columns(columns));
}

#endif
