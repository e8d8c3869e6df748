/*
 * metrics - measures the quality of class predictions from counts that can be added over slots and
 * parts.
 *
 * confusion [3, class_count] holds true positives, false positives and false negatives. These are
 * whole numbers, stored in double like all counts of a tally.
 */
#ifndef COMMON_NN_TASKS_METRICS_H
#define COMMON_NN_TASKS_METRICS_H

#include "common/base/error.h"
#include "common/nn/tasks/tally.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Counts one class of one row. */
void metrics_count(double *confusion, size_t class_count, size_t class, bool predicted,
                   bool true_label);
size_t metrics_confusion_size(uint32_t class_count, bool all);
/* Returns what scikit-learn's f1_score(average="micro") returns; 0 if nothing was counted. */
double metrics_micro_f1(const double *confusion, uint32_t class_count);
/* Returns what f1_score(average="macro") returns: the mean over classes. With a single label the
 * mean is over the classes that some node has or is predicted to have. With several labels a
 * node (`is_multi`) it is over all columns; a column with neither truth nor prediction counts as
 * 0. */
double metrics_macro_f1(const double *confusion, uint32_t class_count, bool is_multi);
/* Compute the same from a tally whose counts are a confusion, for the metric rows of tasks. */
enum error_code metrics_tally_micro_f1(const struct tally *tally, double *out, struct error *err);
/* Computes the mean over the positives of the precision at their score. Equal scores form one
 * step, as in scikit-learn's average_precision_score. NaN without positives. Fails:
 * ERROR_NO_MEMORY. */
MUST_CHECK enum error_code metrics_average_precision(const float *score, const uint8_t *truth,
                                                     size_t count, double *out, struct error *err);
/* Computes the area under the ROC curve (Mann-Whitney; ties count half). NaN if one of the two
 * classes is missing. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code metrics_roc_auc(const float *score, const uint8_t *truth, size_t count,
                                           double *out, struct error *err);

/* The metrics of a column of scores, for tasks with several columns. */
struct column_metrics {
    double roc_auc; /* as metrics_roc_auc() */
    /* sum over falling scores of (recall - recall before) * precision, equal scores in one
     * step (scikit-learn's average_precision_score); NaN if one class is missing */
    double average_precision;
};
/* Measures one column of score and truth, both [count] values that are `stride` elements apart.
 * Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code metrics_column(const float *score, const uint8_t *truth, size_t count,
                                          size_t stride, struct column_metrics *out,
                                          struct error *err);

#endif
