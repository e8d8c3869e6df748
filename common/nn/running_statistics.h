/*
 * running_statistics - the running statistics of the batch norms of a model over all mini-batches:
 * the buffers of the parameter table.
 *
 * The slots of a round form one batch. train-step leaves the statistics of a slot in the buffers'
 * places of the gradient (layer_tail.h). They are merged in the order of slots, and once a round
 * the running statistics move by a tenth towards them. With one slot a round this is PyTorch's
 * BatchNorm1d. The running variance is that of a sample: the sum is divided by one less than the
 * number of rows.
 */
#ifndef COMMON_NN_RUNNING_STATISTICS_H
#define COMMON_NN_RUNNING_STATISTICS_H

#include "common/nn/model.h"

/* Returns the number of values in the buffers. */
static inline size_t running_statistics_size(const struct model *model)
{
    return (size_t)(model->value_count - model->trained_count);
}

/* Sets `sum` [running_statistics_size()] to the statistics of no rows. */
void running_statistics_reset(const struct model *model, double *sum);
/* Adds the statistics of one slot, which lie behind the trained values of its gradient. */
void running_statistics_add(const struct model *model, double *sum, const float *statistics);
/* Adds the sum of other slots. */
void running_statistics_merge(const struct model *model, double *sum, const double *other);
/* Moves the buffers in `value` [model->value_count]. The buffers of a norm that saw fewer than two
 * rows do not change. */
void running_statistics_apply(const struct model *model, const double *sum, float *value);

#endif
