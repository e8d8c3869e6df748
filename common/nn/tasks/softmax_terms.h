/*
 * softmax_terms - the exponentials of a row of logits, which softmax divides by their sum.
 */
#ifndef COMMON_NN_TASKS_SOFTMAX_TERMS_H
#define COMMON_NN_TASKS_SOFTMAX_TERMS_H

#include <stddef.h>

/* Writes term[c] = e^(logit[c] - most) for each of `count` logits, where `most` is the largest
 * logit, and returns their sum. If `term` is NULL, computes only the sum. The exponentials are
 * those of common/math/vector_exp.h, and term c is added to partial sum c % 16, in double: so
 * every level of common/numbers/cpu_level.h gives the same bits. A NaN among the logits makes the
 * sum NaN. */
double softmax_terms(const float *logit, size_t count, float most, float *term);

#endif
