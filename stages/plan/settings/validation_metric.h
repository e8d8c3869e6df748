/*
 * validation_metric - the metric by which weights are judged.
 */
#ifndef STAGES_PLAN_SETTINGS_VALIDATION_METRIC_H
#define STAGES_PLAN_SETTINGS_VALIDATION_METRIC_H

#include "common/nn/tasks/task.h"
#include "stages/plan/settings/pipeline_settings.h"
#include "store/records/partition/partition_book.h"

/* Returns checkpoint.metric. If that is the default, accuracy, and the task has none, returns the
 * loss. */
enum metric validation_metric(const struct pipeline_settings *settings,
                              const struct partition_book *book);

#endif
