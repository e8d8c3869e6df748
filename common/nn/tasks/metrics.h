/*
 * metrics - how good predictions are, from counts that add up over slots and parts.
 */
#ifndef COMMON_NN_TASKS_METRICS_H
#define COMMON_NN_TASKS_METRICS_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Adds rows of logits [rows, class_count] to the counts: confusion [3, class_count] = true positives,
 * false positives, false negatives. Single label: argmax, ties to the lower class; label -1 is left out. */
void metrics_add_single(const float *logits, const int32_t *label, size_t rows,
                        uint32_t class_count, uint64_t *confusion);
/* Multi-label: logit > 0 predicts the label; a row that starts with NaN is left out. */
void metrics_add_multi(const float *logits, const float *label, size_t rows, uint32_t class_count,
                       uint64_t *confusion);

/* As scikit-learn's f1_score(average="micro"); 0 when there is nothing. */
double metrics_micro_f1(const uint64_t *confusion, uint32_t class_count);
/* As f1_score(average="macro"): the mean over classes. Single label: over those that some node has or is
 * predicted to have. Several labels a node (`is_multi`): over all columns, and one with neither truth nor
 * prediction counts 0. */
double metrics_macro_f1(const uint64_t *confusion, uint32_t class_count, bool is_multi);
/* Area under the ROC curve (Mann-Whitney, ties count half). NaN when one class is missing.
 * Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code metrics_roc_auc(const float *score, const uint8_t *truth, size_t count,
                                           double *out, struct error *err);

#endif
