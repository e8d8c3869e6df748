/*
 * regression - the fields that tasks with numbers as labels share: node_regression.c, which defines
 * the functions, and edge_regression.c. Functions with the names of fields of struct task (task.h)
 * implement those fields.
 */
#ifndef COMMON_NN_TASKS_REGRESSION_H
#define COMMON_NN_TASKS_REGRESSION_H

#include "common/nn/tasks/float_labels.h"
#include "common/nn/tasks/tally.h"

enum { REGRESSION_METRIC_COUNT = 4, REGRESSION_LOSS_COUNT = 3 };

extern const struct task_metric regression_metrics[REGRESSION_METRIC_COUNT];
extern const enum loss regression_losses[REGRESSION_LOSS_COUNT];

enum error_code regression_take(const double *column, uint32_t columns, uint32_t class_limit,
                                void *row, struct error *err);
enum error_code regression_check(const void *row, uint32_t class_count, struct error *err);
void regression_describe(uint32_t class_count, char *text, size_t size);
struct loss_result regression_loss(const struct loss_rule *rule, const float *output,
                                   const void *labels, size_t rows, uint32_t class_count,
                                   float *gradient);
size_t regression_count_size(uint32_t class_count, bool all);
void regression_count(const float *output, const void *labels, size_t rows, uint32_t class_count,
                      bool all, double *counts);
size_t regression_print(char *out, const float *output, const void *label, uint32_t class_count);

/* Sets all fields but `name`, `example` and `takes_columns`. */
/* clang-format off */
#define REGRESSION_FIELDS                          \
    .label_take = regression_take,                 \
    .label_width = float_labels_width,             \
    .label_check = regression_check,               \
    .has_label = float_labels_has_label,           \
    .class_count = float_labels_class_count,       \
    .describe = regression_describe,               \
    .losses = regression_losses,                   \
    .loss_count = REGRESSION_LOSS_COUNT,           \
    .loss = regression_loss,                       \
    .count_size = regression_count_size,           \
    .count = regression_count,                     \
    .metric = regression_metrics,                  \
    .metric_count = REGRESSION_METRIC_COUNT,       \
    .print = regression_print
/* clang-format on */

#endif
