#include "common/nn/running_statistics.h"

#include "common/nn/operators/normalisation.h"

/* `sum` has for each norm the values of the table: a mean for each column, the sum of squared
 * distances instead of the variance, and the number of rows. */
struct norm_buffers {
    size_t at; /* offset in the table of values */
    size_t dim;
};

/* Finds the next norm from tensor *index on. Each norm has three tensors, mean, variance and count,
 * behind all trained ones. */
static bool next_buffers(const struct model *model, int *index, struct norm_buffers *out)
{
    while (*index < model->parameter_count &&
           model->parameter[*index].offset < model->trained_count)
        ++*index;
    if (*index == model->parameter_count)
        return false;
    *out = (struct norm_buffers){(size_t)model->parameter[*index].offset,
                                 model->parameter[*index].rows};
    *index += 3;
    return true;
}

void running_statistics_reset(const struct model *model, double *sum)
{
    for (size_t i = 0; i < running_statistics_size(model); i++)
        sum[i] = 0;
}

/* Merges *mean and *square (the sum of squared distances from the mean) of `before` rows with those
 * of `count` more rows, as column_statistics_merge() does. */
static void merge_column(double *mean, double *square, double before, double other_mean,
                         double other_square, double count)
{
    const double distance = other_mean - *mean;
    *mean += distance * (count / (before + count));
    *square += other_square + distance * distance * (before * count / (before + count));
}

void running_statistics_add(const struct model *model, double *sum, const float *statistics)
{
    struct norm_buffers b;
    for (int index = 0; next_buffers(model, &index, &b);) {
        double *all = sum + (b.at - model->trained_count);
        const float *slot = statistics + (b.at - model->trained_count);
        const double count = (double)slot[2 * b.dim], before = all[2 * b.dim];
        if (count == 0)
            continue;
        /* variance times count is the sum of squared distances */
        for (size_t c = 0; c < b.dim; c++)
            merge_column(&all[c], &all[b.dim + c], before, (double)slot[c],
                         (double)slot[b.dim + c] * count, count);
        all[2 * b.dim] += count;
    }
}

void running_statistics_merge(const struct model *model, double *sum, const double *other)
{
    struct norm_buffers b;
    for (int index = 0; next_buffers(model, &index, &b);) {
        double *all = sum + (b.at - model->trained_count);
        const double *more = other + (b.at - model->trained_count);
        const double count = more[2 * b.dim], before = all[2 * b.dim];
        for (size_t c = 0; c < b.dim && count > 0; c++)
            merge_column(&all[c], &all[b.dim + c], before, more[c], more[b.dim + c], count);
        all[2 * b.dim] += count;
    }
}

void running_statistics_apply(const struct model *model, const double *sum, float *value)
{
    struct norm_buffers b;
    for (int index = 0; next_buffers(model, &index, &b);) {
        const double *all = sum + (b.at - model->trained_count);
        float *running = value + b.at;
        const double count = all[2 * b.dim];
        if (count < 2)
            continue;
        for (size_t c = 0; c < b.dim; c++) {
            running[c] = normalisation_running(running[c], all[c]);
            running[b.dim + c] =
                normalisation_running(running[b.dim + c], all[b.dim + c] / (count - 1));
        }
        running[2 * b.dim]++;
    }
}
