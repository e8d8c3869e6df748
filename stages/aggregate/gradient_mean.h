/*
 * gradient_mean - the mean of the gradients of a round, in a fixed order.
 *
 * Each slot's gradient is that of the mean loss over the slot's own seeds. Weighted by its number of
 * labelled seeds, the mean over the slots is the gradient of the mean loss over all seeds of the round,
 * just as if one large mini-batch had made it, also when the last slot is smaller.
 *
 * Sums are kept in double, slot after slot. The product of a float (24 bits) and a count of seeds (below
 * 2^29) is exact there, and what 65,535 additions lose stays far below the last bit of the float that comes
 * out; in single precision a thousand slots would cost three digits.
 *
 * Many slots may be added as a tree: sums of some of them, then sums of those, in double all the way. Its bits are
 * those of its shape.
 *
 * A round is bound by memory here, so the last slot is added while the sum is divided, and a single slot
 * never goes through the sum at all.
 */
#ifndef STAGES_AGGREGATE_GRADIENT_MEAN_H
#define STAGES_AGGREGATE_GRADIENT_MEAN_H

#include "common/base/error.h"
#include "store/records/gradient_range.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gradient_mean { /* {0} is releasable */
    size_t count, capacity;
    double *sum; /* [count], over the slots added so far but the last; when `summed` */
    bool summed;
    struct gradient last; /* owned: the slot added last, which finish folds in as it divides */
    float *value;         /* [count], after finish */
    uint64_t seed_count, correct_count;
    double loss_sum, mean_loss;
    double squared_error, squared_norm; /* of encodings, summed over the slots */
};

/* For gradients of `count` values. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code gradient_mean_init(struct gradient_mean *mean, size_t count,
                                              struct error *err);
void gradient_mean_release(struct gradient_mean *mean);
/* Forgets the slots, keeps the memory. */
void gradient_mean_reset(struct gradient_mean *mean);
/* The same for gradients of `count` values, at most as many as at first. */
void gradient_mean_reset_to(struct gradient_mean *mean, size_t count);
/* Call in slot order. `gradient` has `count` values; one without labelled seeds adds nothing.
 * Owns: the gradient moves into `mean`, which reads its record in place. */
void gradient_mean_add(struct gradient_mean *mean, struct gradient *gradient);
/* Sets mean_loss of the counts. */
void gradient_mean_set_loss(struct gradient_mean *mean);
/* Sets value and mean_loss; zeros when no slot had a labelled seed. */
void gradient_mean_finish(struct gradient_mean *mean);
/* Sets sum, over all slots, instead: where more is added to it. */
void gradient_mean_finish_sum(struct gradient_mean *mean);
/* Adds such a sum of other slots, of `count` values. Into one mean go either gradients or sums. */
void gradient_mean_add_sum(struct gradient_mean *mean, const struct gradient_range *range);

#endif
