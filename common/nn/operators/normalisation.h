/*
 * normalisation - rows or columns brought to mean 0 and variance 1, then scaled and shifted by what is learned.
 *
 *   x^ = (x - m) / sqrt(v + 1e-5)          y = x^ * weight + bias
 *
 *   layer   m and v of each row (Ba, Kiros, Hinton 2016); PyG's LayerNorm with mode "node"
 *   batch   m and v of each column (Ioffe, Szegedy 2015); PyG's BatchNorm. In training over the rows of the mini-batch; in
 *           evaluation the running means of them over the steps, each with a share of 0.1
 *
 * backward, with g = dy * weight: dx = (g - mean of g - x^ * mean of g x^) / sqrt(v + 1e-5), the means over the same row or
 * column; dweight = sum of dy x^ and dbias = sum of dy over the rows. With running means as m and v, which are constants,
 * dx = g / sqrt(v + 1e-5).
 *
 * Sums run in a fixed order, in double.
 */
#ifndef COMMON_NN_OPERATORS_NORMALISATION_H
#define COMMON_NN_OPERATORS_NORMALISATION_H

#include <stdbool.h>
#include <stddef.h>

#define NORM_LIST(ROW) ROW(NONE, none) ROW(BATCH, batch) ROW(LAYER, layer)

#define ROW(constant, name) NORM_##constant,
enum norm_kind { NORM_LIST(ROW) NORM_KIND_COUNT };
#undef ROW
/* In pipeline files; NULL behind the last. */
extern const char *const norm_names[NORM_KIND_COUNT + 1];

/* The mean of each column of `count` rows, and the sum of the squared distances from it. */
struct column_statistics {
    double count;
    double *mean, *deviation; /* [dim] */
};

/* Computes the statistics of these rows. */
void column_statistics_of(struct column_statistics *out, const float *rows, size_t row_count,
                          size_t dim);
/* Adds the second statistics to the first (Chan, Golub, LeVeque 1979). */
void column_statistics_merge(struct column_statistics *sum, const struct column_statistics *more,
                             size_t dim);
/* 1 / sqrt(v + 1e-5). */
float normalisation_scale(double variance);
/* Returns the running mean after a step that found `found`. */
float normalisation_running(float running, double found);

/* x^ in place. `scale` [dim]: normalisation_scale() of each column. */
void normalise_columns(float *rows, size_t row_count, size_t dim, const float *mean,
                       const float *scale);
/* x^ in place, and the scale of each row into `scale` [row_count]. */
void normalise_rows(float *rows, size_t row_count, size_t dim, float *scale);
/* y of x^. */
void normalisation_apply(const float *normalised, size_t row_count, size_t dim, const float *weight,
                         const float *bias, float *out);

/* Sums over the rows of dy x^ and of dy are added to sum [2 * dim]; `room` [2 * dim]. */
void normalisation_sum_gradients(const float *normalised, const float *gradient, size_t row_count,
                                 size_t dim, float *room, float *sum);
/* dx in place of dy, from scale [row_count]. */
void normalise_rows_backward(const float *normalised, const float *scale, const float *weight,
                             size_t row_count, size_t dim, float *gradient);
/* dx in place of dy, from scale [dim] and the means over all rows of dy x^ and of dy [2 * dim]. */
void normalise_columns_backward(const float *normalised, const float *scale, const float *weight,
                                const float *mean, size_t row_count, size_t dim, float *gradient);

#endif
