/*
 * largest_values - the few values of an array with the largest magnitudes, and the rest of it.
 *
 * What gradient compression by top-k keeps (Aji and Heafield, "Sparse Communication for Distributed Gradient Descent", EMNLP
 * 2017), with the rest for error feedback (Stich, Cordonnier and Jaggi, "Sparsified SGD with Memory", NeurIPS 2018).
 */
#ifndef COMMON_MATH_LARGEST_VALUES_H
#define COMMON_MATH_LARGEST_VALUES_H

#include <stddef.h>

/* Leaves the `kept` values with the largest magnitudes in `value` [count], of equal ones the first, and moves all others to
 * `rest` [count]; where one of the two has a value, the other has 0. kept <= count. Takes linear time. */
void largest_values_split(float *value, size_t count, size_t kept, float *rest);

#endif
