/*
 * single_label - the fields that tasks share whose examples have at most one class: nodes
 * (single_label.c) and edges (edge_classification.c). Functions with the names of fields of struct
 * task (task.h) implement those fields.
 */
#ifndef COMMON_NN_TASKS_SINGLE_LABEL_H
#define COMMON_NN_TASKS_SINGLE_LABEL_H

#include "common/nn/tasks/tally.h"

enum { SINGLE_LABEL_METRIC_COUNT = 5, SINGLE_LABEL_LOSS_COUNT = 1 };

extern const struct task_metric single_label_metrics[SINGLE_LABEL_METRIC_COUNT];
extern const enum loss single_label_losses[SINGLE_LABEL_LOSS_COUNT];

enum error_code single_label_take(const double *column, uint32_t columns, uint32_t class_limit,
                                  void *row, struct error *err);
uint32_t single_label_width(uint32_t class_count);
enum error_code single_label_check(const void *row, uint32_t class_count, struct error *err);
bool single_label_has_label(const void *row);
uint32_t single_label_class_count(const void *row, uint64_t rows, uint32_t columns);
void single_label_describe(uint32_t class_count, char *text, size_t size);
bool single_label_is_in_class(const void *row, uint32_t class);
struct loss_result single_label_loss(const struct loss_rule *rule, const float *output,
                                     const void *labels, size_t rows, uint32_t class_count,
                                     float *gradient);
void single_label_count(const float *output, const void *labels, size_t rows, uint32_t class_count,
                        bool all, double *confusion);
uint32_t single_label_score_columns(uint32_t class_count);
void single_label_score(const float *output, const void *label, uint32_t column, float *out,
                        uint8_t *truth);
size_t single_label_print(char *out, const float *logit, const void *label, uint32_t class_count);

/* Sets all fields but `name`, `example` and `takes_columns`. */
/* clang-format off */
#define SINGLE_LABEL_FIELDS                        \
    .is_class_number = true,                       \
    .label_take = single_label_take,               \
    .label_width = single_label_width,             \
    .label_check = single_label_check,             \
    .has_label = single_label_has_label,           \
    .class_count = single_label_class_count,       \
    .describe = single_label_describe,             \
    .is_in_class = single_label_is_in_class,       \
    .losses = single_label_losses,                 \
    .loss_count = SINGLE_LABEL_LOSS_COUNT,         \
    .takes_class_weights = true,                   \
    .takes_label_smoothing = true,                 \
    .loss = single_label_loss,                     \
    .count_size = metrics_confusion_size,          \
    .count = single_label_count,                   \
    .score_columns = single_label_score_columns,   \
    .score = single_label_score,                   \
    .metric = single_label_metrics,                \
    .metric_count = SINGLE_LABEL_METRIC_COUNT,     \
    .print = single_label_print
/* clang-format on */

#endif
