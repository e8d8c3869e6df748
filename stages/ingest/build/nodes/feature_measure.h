/*
 * feature_measure - how ingest.normalise_rows and ingest.standardise change a row, once its
 * statistics are known.
 *
 * The arithmetic is in double, so that nothing overflows. Ingest and the updates of a dataset use
 * the same functions, so a row gets the same bits from both.
 */
#ifndef STAGES_INGEST_BUILD_NODES_FEATURE_MEASURE_H
#define STAGES_INGEST_BUILD_NODES_FEATURE_MEASURE_H

#include <stdint.h>

/* Subtracts `least` from each number of row [dim], then divides the row by its sum, or by 1 if the
 * sum is below 1. */
static inline void feature_measure_normalise(float *row, uint32_t dim, double least)
{
    double sum = 0.0;
    for (uint32_t c = 0; c < dim; c++)
        sum += (double)row[c] - least;
    const double divisor = sum < 1.0 ? 1.0 : sum;
    for (uint32_t c = 0; c < dim; c++)
        row[c] = (float)(((double)row[c] - least) / divisor);
}

/* Returns (value - mean) / deviation, or 0 when the deviation is 0 (a constant column). */
static inline float feature_measure_standardise(float value, double mean, double deviation)
{
    return deviation > 0.0 ? (float)(((double)value - mean) / deviation) : 0.0F;
}

#endif
