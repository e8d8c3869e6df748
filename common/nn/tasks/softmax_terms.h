/*
 * softmax_terms - the exponentials of a row of logits, which softmax divides by their sum.
 */
#ifndef COMMON_NN_TASKS_SOFTMAX_TERMS_H
#define COMMON_NN_TASKS_SOFTMAX_TERMS_H

#include <stddef.h>

/* term[c] = e^(logit[c] - most) for each of `count`, where `most` is the largest logit; returns their sum. `term` NULL: the sum
 * alone. Exponentials are those of common/math/vector_exp.h, and term c counts in partial sum c % 16, in double: the same bits
 * at every level of common/base/cpu_level.h. What is no number makes the sum none. */
double softmax_terms(const float *logit, size_t count, float most, float *term);

#endif
