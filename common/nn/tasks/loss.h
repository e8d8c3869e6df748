/*
 * loss - softmax cross-entropy and multi-label binary cross-entropy, with their gradient.
 *
 * Sums run over rows in order, in double; the same for any thread count.
 */
#ifndef COMMON_NN_TASKS_LOSS_H
#define COMMON_NN_TASKS_LOSS_H

#include <stddef.h>
#include <stdint.h>

struct loss_result {
    double sum;           /* over the labelled rows; divide by their number for the mean */
    uint64_t label_count; /* rows with a label */
    uint64_t
        correct_count; /* rows (single label) or label bits / class_count (multi) predicted right */
};

/* Softmax cross-entropy. logits [rows, class_count]; label [rows], -1: no label, adds nothing.
 * gradient [rows, class_count] of the MEAN over the labelled rows, or NULL. */
struct loss_result loss_softmax(const float *logits, const int32_t *label, size_t rows,
                                uint32_t class_count, float *gradient);

/* Binary cross-entropy with logits (torch's BCEWithLogitsLoss: mean over rows and labels).
 * label [rows, class_count] of 0 and 1; a row that starts with NaN has no labels. */
struct loss_result loss_binary(const float *logits, const float *label, size_t rows,
                               uint32_t class_count, float *gradient);

#endif
