/*
 * float_labels - labels that are rows of floats, one for each column of the output. A row of NaN
 * means that there is no label.
 *
 * The tasks that use it differ in which values they allow: 0 and 1 (multi_label.c), or any number
 * (node_regression.c). Functions with the names of fields of struct task (task.h) implement those
 * fields.
 */
#ifndef COMMON_NN_TASKS_FLOAT_LABELS_H
#define COMMON_NN_TASKS_FLOAT_LABELS_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The values that a label may have. */
struct float_label_rule {
    bool (*allows)(double value);
    const char *expected; /* "0 or 1", for messages */
};

bool float_labels_takes_columns(uint32_t columns);
uint32_t float_labels_width(uint32_t class_count);
bool float_labels_has_label(const void *row);
uint32_t float_labels_class_count(const void *row, uint64_t rows, uint32_t columns);

/* Writes the columns of the input to `row` [columns]; NaN stays NaN. Fails: ERROR_INPUT naming
 * the column if the rule does not allow a value, or if only some columns of the row have labels. */
MUST_CHECK enum error_code float_labels_take(const struct float_label_rule *rule,
                                             const double *column, uint32_t columns, float *row,
                                             struct error *err);
/* Checks that a stored row [class_count] is one that float_labels_take() writes. Fails:
 * ERROR_CORRUPT naming the column. */
MUST_CHECK enum error_code float_labels_check(const struct float_label_rule *rule, const float *row,
                                              uint32_t class_count, struct error *err);
/* Writes how many rows of `label` [rows, class_count] have labels to `label_count`. Returns the
 * share of one value in the mean over those rows; 0 if no row has labels. */
double float_labels_share(const float *label, size_t rows, uint32_t class_count,
                          uint64_t *label_count);

#endif
