/*
 * feature_measure - what ingest.normalise_rows and ingest.standardise do to a row, its statistics being known.
 *
 * In double, so that nothing overflows; ingest and updates of a dataset give a row the same bits.
 */
#ifndef STAGES_INGEST_BUILD_FEATURE_MEASURE_H
#define STAGES_INGEST_BUILD_FEATURE_MEASURE_H

#include <stdint.h>

/* Takes `least` off row [dim] and divides by its sum then, or by 1 when that is below 1. */
static inline void feature_measure_normalise(float *row, uint32_t dim, double least)
{
    double sum = 0.0;
    for (uint32_t c = 0; c < dim; c++)
        sum += (double)row[c] - least;
    const double divisor = sum < 1.0 ? 1.0 : sum;
    for (uint32_t c = 0; c < dim; c++)
        row[c] = (float)(((double)row[c] - least) / divisor);
}

/* A deviation of 0: a constant column, which becomes 0. */
static inline float feature_measure_standardise(float value, double mean, double deviation)
{
    return deviation > 0.0 ? (float)(((double)value - mean) / deviation) : 0.0F;
}

#endif
