/*
 * running_statistics - what the batch norms of a model know of all mini-batches: the buffers of the parameter table.
 *
 * The slots of a round are one batch: their statistics, which train-step leaves in the place of the buffers' gradient
 * (layer_tail.h), are put together in the order of slots, and the running ones move by a tenth of the way to them once a
 * round. With one slot a round that is what PyTorch's BatchNorm1d does. The running variance is that of a sample, divided
 * by one less than its rows.
 */
#ifndef COMMON_NN_RUNNING_STATISTICS_H
#define COMMON_NN_RUNNING_STATISTICS_H

#include "common/nn/model.h"

/* Values of the buffers. */
static inline size_t running_statistics_size(const struct model *model)
{
    return (size_t)(model->value_count - model->trained_count);
}

/* Of no rows. `sum` [running_statistics_size()], likewise below. */
void running_statistics_reset(const struct model *model, double *sum);
/* And those of one more slot, which stand behind the trained values of its gradient. */
void running_statistics_add(const struct model *model, double *sum, const float *statistics);
/* And the sum of other slots. */
void running_statistics_merge(const struct model *model, double *sum, const double *other);
/* Moves the buffers in `value` [model->value_count]; those of a norm of which there are fewer than two rows stay. */
void running_statistics_apply(const struct model *model, const double *sum, float *value);

#endif
