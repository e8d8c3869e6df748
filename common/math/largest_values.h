/*
 * largest_values - splits an array into the few values with the largest magnitudes and the rest.
 *
 * Gradient compression by top-k keeps the former (Aji and Heafield, "Sparse Communication for
 * Distributed Gradient Descent", EMNLP 2017); the rest is for error feedback (Stich, Cordonnier and
 * Jaggi, "Sparsified SGD with Memory", NeurIPS 2018).
 */
#ifndef COMMON_MATH_LARGEST_VALUES_H
#define COMMON_MATH_LARGEST_VALUES_H

#include <stddef.h>

/* Leaves in `value` [count] the `kept` values with the largest magnitudes, of equal ones the first,
 * and moves all others to `rest` [count]. Each element is 0 in one of the two arrays. kept <=
 * count. Takes linear time. */
void largest_values_split(float *value, size_t count, size_t kept, float *rest);

#endif
