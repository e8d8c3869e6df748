/*
 * metrics - how good predictions of classes are, from counts that add up over slots and parts.
 *
 * confusion [3, class_count]: true positives, false positives, false negatives; whole numbers, in double like all
 * counts of a tally.
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
/* As scikit-learn's f1_score(average="micro"); 0 when there is nothing. */
double metrics_micro_f1(const double *confusion, uint32_t class_count);
/* As f1_score(average="macro"): the mean over classes. Single label: over those that some node has or is
 * predicted to have. Several labels a node (`is_multi`): over all columns, and one with neither truth nor
 * prediction counts 0. */
double metrics_macro_f1(const double *confusion, uint32_t class_count, bool is_multi);
/* The same of a tally whose counts are a confusion, for the rows of tasks. */
enum error_code metrics_tally_micro_f1(const struct tally *tally, double *out, struct error *err);
/* The mean over the positives of the precision at their score, equal scores being one step, as scikit-learn's
 * average_precision_score. NaN without positives. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code metrics_average_precision(const float *score, const uint8_t *truth,
                                                     size_t count, double *out, struct error *err);
/* Area under the ROC curve (Mann-Whitney, ties count half). NaN when one class is missing.
 * Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code metrics_roc_auc(const float *score, const uint8_t *truth, size_t count,
                                           double *out, struct error *err);

/* Of a column of scores, for several. */
struct column_metrics {
    double roc_auc; /* as metrics_roc_auc() */
    double
        average_precision; /* sum over scores, falling, of (recall - recall before) precision, equal scores at once
                                 (scikit-learn's average_precision_score); NaN when one class is missing */
};
/* score and truth [count], of `stride` values each. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code metrics_column(const float *score, const uint8_t *truth, size_t count,
                                          size_t stride, struct column_metrics *out,
                                          struct error *err);

#endif
