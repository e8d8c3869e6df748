/*
 * gradient_sum - does the unit sum-gradients, and reads its results for aggregate.
 *
 *   sum-gradients/r/n   ranges of the gradients of some slots, or sums of such ranges
 *                         ->   their sum, or the mean over the round
 *   aggregate/r         the mean of each range   ->   the mean over all values
 *
 * stages/plan/chain/gradient_sums.h says which unit adds what. The sums of batch norms are stored with
 * the last range.
 */
#ifndef STAGES_AGGREGATE_GRADIENT_SUM_H
#define STAGES_AGGREGATE_GRADIENT_SUM_H

#include "common/base/error.h"
#include "common/nn/model.h"
#include "stages/aggregate/gradient_mean.h"
#include "stages/engine/stage.h"

#include <stdint.h>

/* The memory in which a round is added up. */
struct gradient_adder {
    const struct stage_context *context;
    const struct model *model;
    struct gradient_mean *mean; /* for as many values as the model has */
    double *statistics;         /* of batch norms (running_statistics.h), or NULL */
    int64_t round, base; /* the round, and the version of the weights that its gradients are made
                          * from */
    /* How many records of a whole gradient's size may be in memory at once. */
    size_t together;
};

/* Computes and publishes sum `number`, which the round has. Fails: ERROR_NOT_FOUND;
 * ERROR_CORRUPT. */
MUST_CHECK enum error_code gradient_sum_make(const struct gradient_adder *adder, int32_t number,
                                             struct error *err);
/* Reads the means of all ranges, so that mean and statistics are those of all slots. Fails as
 * gradient_sum_make(). */
MUST_CHECK enum error_code gradient_sum_join(const struct gradient_adder *adder, struct error *err);

#endif
