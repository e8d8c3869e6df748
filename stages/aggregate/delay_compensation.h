/*
 * delay_compensation - corrects gradients that were made from weights some rounds older than those
 * they change.
 *
 *   rate       the learning rate is divided by 1 + delay_rate * delay: an old gradient moves the
 *              weights less, as in Zhang, Gupta, Lian and Liu, Staleness-aware Async-SGD for
 *              Distributed Deep Learning (2016)
 *   gradient   g + lambda g g (w - w'), value by value, where w' are the weights that g was made
 *              from and w those it changes: the first term of what the gradient would be by now,
 *              with the diagonal of g g in place of its Hessian. Zheng et al., Asynchronous
 *              Stochastic Gradient Descent with Delay Compensation (2017): DC-ASGD with a
 *              constant lambda
 */
#ifndef STAGES_AGGREGATE_DELAY_COMPENSATION_H
#define STAGES_AGGREGATE_DELAY_COMPENSATION_H

#include "common/base/error.h"
#include "stages/engine/stage.h"

#include <stddef.h>
#include <stdint.h>

/* Returns the factor of the learning rate when the gradients of `round` are made from the weights
 * of version `base` (stages/plan/chain/chosen_base.h); 1 if these are the weights that they change. */
double delay_rate_factor(const struct stage_context *context, int64_t round, int64_t base);
/* Corrects gradient [count]; `value` [count] are the weights of the round. Reads those of `base`.
 * Fails: ERROR_NOT_FOUND; ERROR_CORRUPT. */
MUST_CHECK enum error_code delay_compensate(const struct stage_context *context, int64_t round,
                                            int64_t base, size_t count, const float *value,
                                            float *gradient, struct error *err);

#endif
