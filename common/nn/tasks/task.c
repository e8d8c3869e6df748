#include "common/nn/tasks/task.h"

#include <string.h>

#define TASK_ROW(number, name) [number] = {#name, &task_##name},
static const struct {
    const char *name;
    const struct task *task;
} table[TASK_KIND_COUNT] = {[TASK_UNKNOWN] = {"", NULL},
                            TASK_LIST(TASK_ROW)[TASK_NONE] = {"none", NULL}};

#define METRIC_ROW(number, name, title, less_is_better, is_told)                                   \
    [number] = {#name, title, less_is_better, is_told},
const struct metric_row metric_table[METRIC_COUNT] = {METRIC_LIST(METRIC_ROW)};

const struct task *task_of(enum task_kind kind)
{
    must(kind < TASK_KIND_COUNT);
    return table[kind].task;
}

const char *task_name(enum task_kind kind)
{
    must(kind < TASK_KIND_COUNT);
    return table[kind].name;
}

enum task_kind task_named(const char *name, size_t size)
{
    for (enum task_kind kind = TASK_UNKNOWN + 1; kind < TASK_KIND_COUNT; kind++)
        if (strlen(table[kind].name) == size && memcmp(table[kind].name, name, size) == 0)
            return kind;
    return TASK_UNKNOWN;
}

bool task_has_labels(enum task_kind kind)
{
    const struct task *task = task_of(kind);
    return task && task->example == EXAMPLE_NODE;
}

bool task_learns_pairs(enum task_kind kind)
{
    const struct task *task = task_of(kind);
    return task && task->example == EXAMPLE_PAIR;
}

enum task_kind task_of_columns(uint32_t columns)
{
    enum task_kind kind = TASK_UNKNOWN + 1;
    while (!table[kind].task->takes_columns(columns))
        kind++;
    return kind;
}

struct loss_result task_loss(const struct task *task, const float *output, const void *label,
                             const float *weight, size_t rows, uint32_t class_count,
                             float *gradient)
{
    const size_t label_bytes = task->label_width(class_count) * sizeof(float);
    struct loss_result result = {0};
    if (!weight)
        return task->loss(output, label, rows, class_count, gradient);
    for (size_t i = 0; i < rows; i++) {
        const struct loss_result row =
            task->loss(output + i * class_count, (const char *)label + i * label_bytes, 1,
                       class_count, gradient ? gradient + i * class_count : NULL);
        result.sum += row.label_count ? (double)weight[i] * row.sum : 0;
        result.label_count += row.label_count;
        result.correct_count += row.correct_count;
    }
    const double labelled = result.label_count ? (double)result.label_count : 1;
    for (size_t i = 0; gradient && i < rows; i++)
        for (size_t c = 0; c < class_count; c++)
            gradient[i * class_count + c] =
                (float)((double)gradient[i * class_count + c] * (double)weight[i] / labelled);
    return result;
}

bool task_has_metric(const struct task *task, enum metric metric, uint32_t class_count)
{
    for (int i = 0; i < task->metric_count; i++)
        if (task->metric[i].metric == metric)
            return !task->metric[i].needs_scores || class_count == 2;
    return false;
}
