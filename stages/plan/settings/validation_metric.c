#include "stages/plan/settings/validation_metric.h"

enum metric validation_metric(const struct pipeline_settings *settings,
                              const struct partition_book *book)
{
    const enum metric chosen = (enum metric)settings->checkpoint.metric;
    const struct task *task = task_of(book->task);
    const bool is_default = chosen == METRIC_ACCURACY;
    return is_default && !task_has_metric(task, chosen, book->class_count) ? METRIC_LOSS : chosen;
}
