/*
 * loss_warning - finds a training loss that shows that the data or the settings are wrong, long
 * before it becomes NaN.
 *
 *   large    the mean loss since the last snapshot, or that of validation, is above 1,000,000.
 *            Losses of numbers (l1, l2, huber) are as large as the squares of their labels, and are
 *            not checked.
 *   growing  the loss grew through a whole epoch. The epoch is cut into four quarters of its rounds
 *            (fewer if it has fewer rounds); the mean loss of each is above that of the one
 *            before it, the first is above the loss of the last snapshot, and the last is above 1
 *            and more than 1.5 times the loss at which the growth began.
 *
 * Each warning is given once a run: in the log of checkpoint, in the snapshot's line of
 * metrics.jsonl, and by the driver.
 */
#ifndef STAGES_PLAN_MODEL_LOSS_WARNING_H
#define STAGES_PLAN_MODEL_LOSS_WARNING_H

#include "store/records/round/parameters.h"

#include <stdbool.h>
#include <stdint.h>

enum { LOSS_IS_LARGE = 1, LOSS_GROWS = 2, LOSS_WARNING_COUNT = 2, LOSS_WARNING_SIZE = 512 };

struct loss_record {
    const double *rounds; /* [count, PROGRESS_COUNT] since the last snapshot, oldest first */
    uint64_t count, rounds_per_epoch;
    /* The larger of their mean and the loss of validation; NaN: there is none. */
    double loss;
    double previous; /* the same for the last snapshot; NaN: there is none */
    bool is_of_numbers;
};

/* Returns the warnings as a sum of the values above. */
unsigned loss_warning_find(const struct loss_record *record);
/* Writes a sentence about one warning. `loss` is the larger loss of a snapshot, of training and
 * validation. Returns `text`. */
const char *loss_warning_text(unsigned warning, double loss, char text[LOSS_WARNING_SIZE]);

#endif
