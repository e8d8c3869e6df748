#include "common/nn/tasks/task.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define TASK_ROW(number, name, help) [number] = {#name, &task_##name},
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

const struct task_example_row task_examples[EXAMPLE_COUNT] = {
    [EXAMPLE_NODE] = {"node", "nodes", TASK_LABELS_NODES},
    [EXAMPLE_PAIR] = {"pair", "pairs",
                      TASK_HOLDS_OUT_EDGES | TASK_RANKS | TASK_SEEDS_ALL_TYPES | TASK_HAS_DECODER},
    [EXAMPLE_EDGE] = {"edge", "edges",
                      TASK_LABELS_EDGES | TASK_HOLDS_OUT_EDGES | TASK_SEEDS_ALL_TYPES |
                          TASK_HAS_DECODER},
    [EXAMPLE_GRAPH] = {"graph", "graphs", TASK_HAS_GRAPHS | TASK_HAS_READOUT},
};

enum task_example task_example_of(enum task_kind kind)
{
    const struct task *task = task_of(kind);
    return task ? task->example : EXAMPLE_NODE;
}

bool task_has(enum task_kind kind, unsigned traits)
{
    return task_of(kind) && task_row_has(task_of(kind), traits);
}

bool task_has_classes(enum task_kind kind, unsigned traits)
{
    return task_has(kind, traits) && task_of(kind)->is_class_number;
}

const char *task_subject(enum task_kind kind)
{
    return task_examples[task_example_of(kind)].name;
}

enum task_kind task_of_columns(uint32_t columns)
{
    enum task_kind kind = TASK_UNKNOWN + 1;
    while (!table[kind].task->takes_columns(columns))
        kind++;
    return kind;
}

enum error_code task_take_labels(const struct task *task, const float *label, size_t rows,
                                 uint32_t class_count, void *out, struct error *err)
{
    const uint32_t limit = task->is_class_number ? class_count : 0;
    for (size_t i = 0; i < rows; i++) {
        const double column = (double)label[i];
        char *row = (char *)out + i * sizeof(float);
        if (task->label_take(&column, 1, limit, row, err) != ERROR_NONE || !task->has_label(row))
            return error_set(err, ERROR_CORRUPT,
                             "label %zu is %g: expected one of %s with %" PRIu32 " outputs", i,
                             column, task->name, class_count);
    }
    return ERROR_NONE;
}

/* Returns the divisor that the mean over one row alone applied to the row's gradient. */
static double class_weight_of(const struct task *task, const struct loss_rule *rule,
                              const void *label)
{
    int32_t class = 0;
    if (!rule->class_weight || !task->is_class_number || !task->has_label(label))
        return 1;
    memcpy(&class, label, sizeof class);
    return rule->class_weight[class];
}

struct loss_result task_loss(const struct task *task, const struct loss_rule *rule,
                             const float *output, const void *label, const float *weight,
                             size_t rows, uint32_t class_count, float *gradient)
{
    const size_t label_bytes = task->label_width(class_count) * sizeof(float);
    struct loss_result result = {0};
    if (!weight)
        return task->loss(rule, output, label, rows, class_count, gradient);
    for (size_t i = 0; i < rows; i++) {
        const struct loss_result row =
            task->loss(rule, output + i * class_count, (const char *)label + i * label_bytes, 1,
                       class_count, gradient ? gradient + i * class_count : NULL);
        result.is_weighted = row.is_weighted;
        if (!(weight[i] > 0))
            continue; /* such a row only fills up the batch */
        result.sum += row.label_count ? (double)weight[i] * row.sum : 0;
        result.label_count += row.label_count;
        result.correct_count += row.correct_count;
        result.weight_sum += row.weight_sum;
    }
    const double labelled = result.label_count ? (double)result.label_count : 1;
    const double all = result.weight_sum > 0 ? result.weight_sum : labelled;
    for (size_t i = 0; gradient && i < rows; i++) {
        const double times =
            class_weight_of(task, rule, (const char *)label + i * label_bytes) * (double)weight[i];
        for (size_t c = 0; c < class_count; c++)
            gradient[i * class_count + c] =
                (float)((double)gradient[i * class_count + c] * times / all);
    }
    return result;
}

bool task_has_metric(const struct task *task, enum metric metric, uint32_t class_count)
{
    for (int i = 0; i < task->metric_count; i++)
        if (task->metric[i].metric == metric)
            return !task->metric[i].needs_scores || task_score_columns(task, class_count) > 0;
    return false;
}

bool task_metric_needs_all(const struct task *task, enum metric metric)
{
    for (int i = 0; i < task->metric_count; i++)
        if (task->metric[i].metric == metric)
            return task->metric[i].needs_all;
    return false;
}

enum loss task_loss_of(const struct task *task, enum loss kind)
{
    for (int i = 0; i < task->loss_count; i++)
        if (kind == LOSS_AUTO || task->losses[i] == kind)
            return task->losses[i];
    return LOSS_COUNT;
}

uint32_t task_score_columns(const struct task *task, uint32_t class_count)
{
    return task->score_columns ? task->score_columns(class_count) : 0;
}

#define LOSS_NAME(number, name, help) [number] = #name,
const char *loss_name(enum loss kind)
{
    static const char *const names[] = {[LOSS_AUTO] = "auto", LOSS_LIST(LOSS_NAME)};
    must(kind < LOSS_COUNT);
    return names[kind];
}

uint64_t loss_rows(const struct loss_result *result)
{
    return result->is_weighted && !(result->weight_sum > 0) ? 0 : result->label_count;
}

double loss_mean(const struct loss_result *result)
{
    if (loss_rows(result) == 0)
        return (double)NAN;
    return result->sum / (result->is_weighted ? result->weight_sum : (double)result->label_count);
}
