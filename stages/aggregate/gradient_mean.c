#include "stages/aggregate/gradient_mean.h"

#include "common/base/memory.h"
#include "common/numbers/cpu_kernel.h"

#include <string.h>

enum error_code gradient_mean_init(struct gradient_mean *mean, size_t count, struct error *err)
{
    *mean = (struct gradient_mean){.count = count, .capacity = count};
    enum error_code rc = memory_new(&mean->sum, count, "the sum of gradients", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&mean->value, count, "the mean gradient", err);
    if (rc != ERROR_NONE)
        gradient_mean_release(mean);
    return rc;
}

static void drop_last(struct gradient_mean *mean)
{
    gradient_release(&mean->last);
}

void gradient_mean_release(struct gradient_mean *mean)
{
    drop_last(mean);
    memory_free(mean->sum);
    memory_free(mean->value);
    *mean = (struct gradient_mean){0};
}

void gradient_mean_reset(struct gradient_mean *mean)
{
    drop_last(mean);
    mean->summed = false;
    mean->seed_count = mean->correct_count = 0;
    mean->loss_sum = mean->mean_loss = 0.0;
    mean->squared_error = mean->squared_norm = 0.0;
}

void gradient_mean_reset_to(struct gradient_mean *mean, size_t count)
{
    must(count <= mean->capacity);
    gradient_mean_reset(mean);
    mean->count = count;
}

/* Adds the first slot like any other: 0.0 + x is not x if that is -0.0. */
CPU_KERNEL(add_first,
           (double *restrict sum, double weight, const float *restrict value, size_t count),
           (sum, weight, value, count))
{
    for (size_t i = 0; i < count; i++)
        sum[i] = 0.0 + weight * (double)value[i];
}

CPU_KERNEL(add_next,
           (double *restrict sum, double weight, const float *restrict value, size_t count),
           (sum, weight, value, count))
{
    for (size_t i = 0; i < count; i++)
        sum[i] += weight * (double)value[i];
}

CPU_KERNEL(divide_sum,
           (float *restrict out, const double *restrict sum, double weight,
            const float *restrict value, double seeds, size_t count),
           (out, sum, weight, value, seeds, count))
{
    for (size_t i = 0; i < count; i++)
        out[i] = (float)((sum[i] + weight * (double)value[i]) / seeds);
}

CPU_KERNEL(divide_single,
           (float *restrict out, double weight, const float *restrict value, double seeds,
            size_t count),
           (out, weight, value, seeds, count))
{
    for (size_t i = 0; i < count; i++)
        out[i] = (float)((0.0 + weight * (double)value[i]) / seeds);
}

CPU_KERNEL(add_doubles, (double *restrict sum, const double *restrict value, size_t count),
           (sum, value, count))
{
    for (size_t i = 0; i < count; i++)
        sum[i] += value[i];
}

CPU_KERNEL(divide_doubles,
           (float *restrict out, const double *restrict sum, double seeds, size_t count),
           (out, sum, seeds, count))
{
    for (size_t i = 0; i < count; i++)
        out[i] = (float)(sum[i] / seeds);
}

static void fold_last(struct gradient_mean *mean)
{
    if (mean->last.value && mean->summed)
        add_next(mean->sum, (double)mean->last.seed_count, mean->last.value, mean->count);
    else if (mean->last.value)
        add_first(mean->sum, (double)mean->last.seed_count, mean->last.value, mean->count);
    mean->summed = mean->summed || mean->last.value;
    drop_last(mean);
}

void gradient_mean_add(struct gradient_mean *mean, struct gradient *gradient)
{
    must(gradient->value_count == mean->count);
    if (gradient->seed_count == 0) {
        gradient_release(gradient); /* its values have no meaning, and 0 x NaN would be NaN */
        return;
    }
    fold_last(mean);
    mean->last = *gradient;
    *gradient = (struct gradient){0}; /* ownership moved */
    mean->seed_count += mean->last.seed_count;
    mean->correct_count += mean->last.correct_count;
    mean->loss_sum += mean->last.loss_sum;
    mean->squared_error += mean->last.squared_error;
    mean->squared_norm += mean->last.squared_norm;
}

void gradient_mean_add_sum(struct gradient_mean *mean, const struct gradient_range *range)
{
    must(!mean->last.value && range->sum && range->count == mean->count);
    if (range->seed_count == 0)
        return;
    if (mean->summed)
        add_doubles(mean->sum, range->sum, mean->count);
    else
        memcpy(mean->sum, range->sum, mean->count * sizeof *mean->sum);
    mean->summed = true;
    mean->seed_count += range->seed_count;
    mean->correct_count += range->correct_count;
    mean->loss_sum += range->loss_sum;
    mean->squared_error += range->squared_error;
    mean->squared_norm += range->squared_norm;
}

void gradient_mean_finish_sum(struct gradient_mean *mean)
{
    fold_last(mean);
    if (!mean->summed)
        memset(mean->sum, 0, mean->count * sizeof *mean->sum);
}

static double seeds_of(const struct gradient_mean *mean)
{
    return mean->seed_count ? (double)mean->seed_count : 1.0;
}

void gradient_mean_set_loss(struct gradient_mean *mean)
{
    mean->mean_loss = mean->loss_sum / seeds_of(mean);
}

void gradient_mean_finish(struct gradient_mean *mean)
{
    const double seeds = seeds_of(mean);
    const double weight = (double)mean->last.seed_count;
    if (!mean->last.value && mean->summed)
        divide_doubles(mean->value, mean->sum, seeds, mean->count);
    else if (!mean->last.value)
        memset(mean->value, 0, mean->count * sizeof *mean->value);
    else if (mean->summed)
        divide_sum(mean->value, mean->sum, weight, mean->last.value, seeds, mean->count);
    else
        divide_single(mean->value, weight, mean->last.value, seeds, mean->count);
    gradient_mean_set_loss(mean);
    drop_last(mean);
}
