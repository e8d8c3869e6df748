#include "stages/aggregate/gradient_mean.h"

#include "common/base/memory.h"

#include <string.h>

enum error_code gradient_mean_init(struct gradient_mean *mean, size_t count, struct error *err)
{
    *mean = (struct gradient_mean){.count = count};
    enum error_code rc = memory_new(&mean->sum, count, "the sum of gradients", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&mean->value, count, "the mean gradient", err);
    if (rc != ERROR_NONE)
        gradient_mean_release(mean);
    return rc;
}

void gradient_mean_release(struct gradient_mean *mean)
{
    memory_free(mean->sum);
    memory_free(mean->value);
    *mean = (struct gradient_mean){0};
}

void gradient_mean_reset(struct gradient_mean *mean)
{
    memset(mean->sum, 0, mean->count * sizeof *mean->sum);
    mean->seed_count = mean->right_count = 0;
    mean->loss_sum = mean->mean_loss = 0.0;
}

void gradient_mean_add(struct gradient_mean *mean, const struct gradient *gradient)
{
    must(gradient->value_count == mean->count);
    if (gradient->seed_count == 0)
        return; /* its values mean nothing, and 0 x NaN would be NaN */
    const double weight = (double)gradient->seed_count;
    const float *restrict value = gradient->value;
    double *restrict sum = mean->sum;
    for (size_t i = 0; i < mean->count; i++)
        sum[i] += weight * (double)value[i];
    mean->seed_count += gradient->seed_count;
    mean->right_count += gradient->right_count;
    mean->loss_sum += gradient->loss_sum;
}

void gradient_mean_finish(struct gradient_mean *mean)
{
    const double seeds = mean->seed_count ? (double)mean->seed_count : 1.0;
    const double *restrict sum = mean->sum;
    float *restrict value = mean->value;
    for (size_t i = 0; i < mean->count; i++)
        value[i] = (float)(sum[i] / seeds);
    mean->mean_loss = mean->loss_sum / seeds;
}
