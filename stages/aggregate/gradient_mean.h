/*
 * gradient_mean - the mean of the gradients of a round, in a fixed order.
 *
 * Each slot's gradient is that of the mean loss over the slot's own seeds. Weighted by its number
 * of labelled seeds, the mean over the slots is the gradient of the mean loss over all seeds of the
 * round, just as if one large mini-batch had made it, also when the last slot is smaller.
 *
 * Sums are kept in double, slot after slot. The product of a float (24 bits) and a count of seeds
 * (below 2^29) is exact in double. The error of 65,535 additions stays far below the last bit of
 * the resulting float; in single precision a thousand slots would cost three digits.
 *
 * Many slots may be added as a tree: sums of some slots, then sums of those sums, always in double.
 * The bits depend on the shape of the tree.
 *
 * Memory bandwidth limits this step, so the last slot is added while the sum is divided, and a
 * single slot never passes through the sum.
 */
#ifndef STAGES_AGGREGATE_GRADIENT_MEAN_H
#define STAGES_AGGREGATE_GRADIENT_MEAN_H

#include "common/base/error.h"
#include "store/records/round/gradient_range.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gradient_mean { /* {0} is releasable */
    size_t count, capacity;
    /* [count], over all slots added so far but the last; valid if `summed`. */
    double *sum;
    bool summed;
    /* Owned: the slot added last, which finish adds as it divides. */
    struct gradient last;
    float *value; /* [count], after finish */
    uint64_t seed_count, correct_count;
    double loss_sum, mean_loss;
    double squared_error, squared_norm; /* errors of encodings, summed over the slots */
};

/* Allocates the memory for gradients of `count` values. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code gradient_mean_init(struct gradient_mean *mean, size_t count,
                                              struct error *err);
void gradient_mean_release(struct gradient_mean *mean);
/* Forgets the slots and keeps the memory. */
void gradient_mean_reset(struct gradient_mean *mean);
/* Does the same for gradients of `count` values, at most as many as at first. */
void gradient_mean_reset_to(struct gradient_mean *mean, size_t count);
/* Adds a slot. Call in slot order. `gradient` has `count` values; one without labelled seeds adds
 * nothing. Owns: the gradient moves into `mean`, which reads its record in place. */
void gradient_mean_add(struct gradient_mean *mean, struct gradient *gradient);
/* Computes mean_loss from the counts. */
void gradient_mean_set_loss(struct gradient_mean *mean);
/* Computes value and mean_loss; zeros if no slot had a labelled seed. */
void gradient_mean_finish(struct gradient_mean *mean);
/* Computes the sum over all slots instead, for a sum that is added to others. */
void gradient_mean_finish_sum(struct gradient_mean *mean);
/* Adds such a sum of other slots, of `count` values. A mean is made either from gradients or from
 * sums. */
void gradient_mean_add_sum(struct gradient_mean *mean, const struct gradient_range *range);

#endif
