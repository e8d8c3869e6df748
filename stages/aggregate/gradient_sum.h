/*
 * gradient_sum - the unit sum-gradients, and what aggregate reads of it.
 *
 *   sum-gradients/r/n   ranges of the gradients of some slots, or sums of such   ->   their sum, or the mean over the round
 *   aggregate/r         the mean of each range                                   ->   the mean over all values
 *
 * Which unit adds what says stages/plan/gradient_sums.h. The sums of batch norms go with the last range.
 */
#ifndef STAGES_AGGREGATE_GRADIENT_SUM_H
#define STAGES_AGGREGATE_GRADIENT_SUM_H

#include "common/base/error.h"
#include "common/nn/model.h"
#include "stages/aggregate/gradient_mean.h"
#include "stages/engine/stage.h"

#include <stdint.h>

/* What the round is added up in. */
struct gradient_adder {
    const struct stage_context *context;
    const struct model *model;
    struct gradient_mean *mean; /* for as many values as the model has */
    double *statistics;         /* of batch norms (running_statistics.h), or NULL */
    int64_t round, base; /* and the version of the weights that its gradients are made from */
    size_t together;     /* records of a whole gradient's size that may be in memory at once */
};

/* Makes and publishes sum `number`, which the round has. Fails: ERROR_NOT_FOUND; ERROR_CORRUPT. */
MUST_CHECK enum error_code gradient_sum_make(const struct gradient_adder *adder, int32_t number,
                                             struct error *err);
/* Afterwards mean and statistics are those of all slots. Fails likewise. */
MUST_CHECK enum error_code gradient_sum_join(const struct gradient_adder *adder, struct error *err);

#endif
