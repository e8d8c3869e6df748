#include "common/nn/operators/normalisation.h"

#include "common/math/vector.h"
#include "common/numbers/cpu_kernel.h"

#include <math.h>

#define ROW(constant, name) #name,
const char *const norm_names[NORM_KIND_COUNT + 1] = {NORM_LIST(ROW) NULL};
#undef ROW

enum { LANE_COUNT = 8 };

static const double epsilon = 1e-5, momentum = 0.1;

float normalisation_scale(double variance)
{
    return (float)(1 / sqrt(variance + epsilon));
}

float normalisation_running(float running, double found)
{
    return (float)((1 - momentum) * (double)running + momentum * found);
}

/* --- statistics of columns --- */

CPU_KERNEL(add_columns, (const float *rows, size_t row_count, size_t dim, double *restrict sum),
           (rows, row_count, dim, sum))
{
    for (size_t c = 0; c < dim; c++)
        sum[c] = 0;
    for (size_t row = 0; row < row_count; row++)
        for (size_t c = 0; c < dim; c++)
            sum[c] += (double)rows[row * dim + c];
}

CPU_KERNEL(add_squares,
           (const float *rows, const double *restrict mean, size_t row_count, size_t dim,
            double *restrict sum),
           (rows, mean, row_count, dim, sum))
{
    for (size_t c = 0; c < dim; c++)
        sum[c] = 0;
    for (size_t row = 0; row < row_count; row++)
        for (size_t c = 0; c < dim; c++) {
            const double distance = (double)rows[row * dim + c] - mean[c];
            sum[c] += distance * distance;
        }
}

void column_statistics_of(struct column_statistics *out, const float *rows, size_t row_count,
                          size_t dim)
{
    out->count = (double)row_count;
    add_columns(rows, row_count, dim, out->mean);
    for (size_t c = 0; c < dim; c++)
        out->mean[c] /= out->count;
    add_squares(rows, out->mean, row_count, dim, out->deviation);
}

void column_statistics_merge(struct column_statistics *sum, const struct column_statistics *more,
                             size_t dim)
{
    const double count = sum->count + more->count;
    if (more->count == 0)
        return;
    for (size_t c = 0; c < dim; c++) {
        const double distance = more->mean[c] - sum->mean[c];
        sum->mean[c] += distance * (more->count / count);
        sum->deviation[c] +=
            more->deviation[c] + distance * distance * (sum->count * more->count / count);
    }
    sum->count = count;
}

/* --- forward --- */

CPU_KERNEL(shift_and_scale,
           (float *restrict rows, size_t row_count, size_t dim, const float *restrict mean,
            const float *restrict scale),
           (rows, row_count, dim, mean, scale))
{
    for (size_t row = 0; row < row_count; row++)
        for (size_t c = 0; c < dim; c++)
            rows[row * dim + c] = (rows[row * dim + c] - mean[c]) * scale[c];
}

void normalise_columns(float *rows, size_t row_count, size_t dim, const float *mean,
                       const float *scale)
{
    shift_and_scale(rows, row_count, dim, mean, scale);
}

CPU_INLINE double add_lanes(const double *lane)
{
    double sum = 0;
    for (size_t k = 0; k < LANE_COUNT; k++)
        sum += lane[k];
    return sum;
}

/* The sum of (x - mean) or of its squares; value c is in lane c % 8. */
CPU_INLINE double sum_row(const float *row, size_t dim, double mean, bool squared)
{
    double lane[LANE_COUNT] = {0};
    const size_t whole = dim - dim % LANE_COUNT;
    for (size_t c = 0; c < dim; c += LANE_COUNT)
        for (size_t k = 0; k < (c < whole ? LANE_COUNT : dim - whole); k++) {
            const double distance = (double)row[c + k] - mean;
            lane[k] += squared ? distance * distance : distance;
        }
    return add_lanes(lane);
}

CPU_KERNEL(center_rows, (float *restrict rows, size_t row_count, size_t dim, float *restrict scale),
           (rows, row_count, dim, scale))
{
    for (size_t row = 0; row < row_count; row++) {
        float *x = rows + row * dim;
        const double mean = sum_row(x, dim, 0, false) / (double)dim;
        const double variance = sum_row(x, dim, mean, true) / (double)dim;
        const float own = normalisation_scale(variance), shift = (float)mean;
        for (size_t c = 0; c < dim; c++)
            x[c] = (x[c] - shift) * own;
        scale[row] = own;
    }
}

void normalise_rows(float *rows, size_t row_count, size_t dim, float *scale)
{
    center_rows(rows, row_count, dim, scale);
}

CPU_KERNEL(weigh_and_shift,
           (const float *x, size_t row_count, size_t dim, const float *restrict weight,
            const float *restrict bias, float *y),
           (x, row_count, dim, weight, bias, y))
{
    for (size_t row = 0; row < row_count; row++)
        for (size_t c = 0; c < dim; c++)
            y[row * dim + c] = x[row * dim + c] * weight[c] + bias[c];
}

void normalisation_apply(const float *normalised, size_t row_count, size_t dim, const float *weight,
                         const float *bias, float *out)
{
    weigh_and_shift(normalised, row_count, dim, weight, bias, out);
}

/* --- backward --- */

CPU_KERNEL(sum_products,
           (const float *normalised, const float *gradient, size_t row_count, size_t dim,
            float *restrict room, float *restrict sum),
           (normalised, gradient, row_count, dim, room, sum))
{
    vector_zero(room, 2 * dim);
    for (size_t row = 0; row < row_count; row++) {
        const float *x = normalised + row * dim, *dy = gradient + row * dim;
        for (size_t c = 0; c < dim; c++)
            room[c] += dy[c] * x[c];
        vector_add(room + dim, dy, dim);
    }
    vector_add(sum, room, 2 * dim);
}

void normalisation_sum_gradients(const float *normalised, const float *gradient, size_t row_count,
                                 size_t dim, float *room, float *sum)
{
    sum_products(normalised, gradient, row_count, dim, room, sum);
}

CPU_KERNEL(rows_back,
           (const float *normalised, const float *scale, const float *restrict weight,
            size_t row_count, size_t dim, float *restrict gradient),
           (normalised, scale, weight, row_count, dim, gradient))
{
    const size_t whole = dim - dim % LANE_COUNT;
    for (size_t row = 0; row < row_count; row++) {
        const float *x = normalised + row * dim;
        float *g = gradient + row * dim;
        double lane[LANE_COUNT] = {0}, product_lane[LANE_COUNT] = {0};
        for (size_t c = 0; c < dim; c += LANE_COUNT)
            for (size_t k = 0; k < (c < whole ? LANE_COUNT : dim - whole); k++) {
                g[c + k] *= weight[c + k];
                lane[k] += (double)g[c + k];
                product_lane[k] += (double)g[c + k] * (double)x[c + k];
            }
        const float mean = (float)(add_lanes(lane) / (double)dim);
        const float product = (float)(add_lanes(product_lane) / (double)dim);
        for (size_t c = 0; c < dim; c++)
            g[c] = (g[c] - mean - x[c] * product) * scale[row];
    }
}

void normalise_rows_backward(const float *normalised, const float *scale, const float *weight,
                             size_t row_count, size_t dim, float *gradient)
{
    rows_back(normalised, scale, weight, row_count, dim, gradient);
}

CPU_KERNEL(columns_back,
           (const float *normalised, const float *restrict scale, const float *restrict weight,
            const float *restrict mean, size_t row_count, size_t dim, float *restrict gradient),
           (normalised, scale, weight, mean, row_count, dim, gradient))
{
    for (size_t row = 0; row < row_count; row++) {
        const float *x = normalised + row * dim;
        float *g = gradient + row * dim;
        for (size_t c = 0; c < dim; c++)
            g[c] = (g[c] - mean[dim + c] - x[c] * mean[c]) * (scale[c] * weight[c]);
    }
}

void normalise_columns_backward(const float *normalised, const float *scale, const float *weight,
                                const float *mean, size_t row_count, size_t dim, float *gradient)
{
    columns_back(normalised, scale, weight, mean, row_count, dim, gradient);
}
