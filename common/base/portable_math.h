/*
 * portable_math - logarithm, sine and cosine with the same bits on every machine.
 *
 * What libm gives differs in the last bit between its versions and processors, and these numbers become bytes
 * of stored datasets, which are compared by hash. Here are additions, multiplications and divisions in double
 * alone, which IEEE 754 fixes (the build forbids contraction to fused operations). Within 2 units in the last
 * place of double: far more than the float that they are rounded to shows.
 */
#ifndef COMMON_BASE_PORTABLE_MATH_H
#define COMMON_BASE_PORTABLE_MATH_H

/* Natural logarithm of a finite x > 0. */
double portable_log(double x);
/* Sine and cosine of `turn` whole turns (2 pi each), 0 <= turn < 1. */
void portable_sin_cos(double turn, double *sine, double *cosine);

#endif
