/*
 * float_labels - labels that are rows of floats, one in each column of the output; a row of NaN has none.
 *
 * For tasks that differ in what a value may be: 0 and 1 (multi_label.c), any number (node_regression.c). The functions
 * with the names of fields of struct task (task.h) are those fields.
 */
#ifndef COMMON_NN_TASKS_FLOAT_LABELS_H
#define COMMON_NN_TASKS_FLOAT_LABELS_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a label that is there may be. */
struct float_label_rule {
    bool (*allows)(double value);
    const char *expected; /* "0 or 1", for messages */
};

bool float_labels_takes_columns(uint32_t columns);
uint32_t float_labels_width(uint32_t class_count);
bool float_labels_has_label(const void *row);
uint32_t float_labels_class_count(const void *row, uint64_t rows, uint32_t columns);

/* The columns of the input into `row` [columns], NaN for those that are NaN. Fails: ERROR_INPUT naming the column for a
 * value that the rule does not allow, and for a row with labels in some columns only. */
MUST_CHECK enum error_code float_labels_take(const struct float_label_rule *rule,
                                             const double *column, uint32_t columns, float *row,
                                             struct error *err);
/* Whether a stored row [class_count] is what take() makes. Fails: ERROR_CORRUPT naming the column. */
MUST_CHECK enum error_code float_labels_check(const struct float_label_rule *rule, const float *row,
                                              uint32_t class_count, struct error *err);
/* How many of `label` [rows, class_count] have labels, and the share of one value in the mean over those; 0 for none. */
double float_labels_share(const float *label, size_t rows, uint32_t class_count,
                          uint64_t *label_count);

#endif
