/*
 * portable_math - logarithm, sine and cosine with the same bits on every machine.
 *
 * The results of libm differ in the last bit between its versions and processors, and these numbers
 * become bytes of stored datasets, which are compared by hash. These functions only add, multiply
 * and divide doubles, which IEEE 754 defines exactly (the build forbids contraction to fused
 * operations). They are within 2 units in the last place of double, which is far more precise than
 * the float that the results are rounded to.
 */
#ifndef COMMON_NUMBERS_PORTABLE_MATH_H
#define COMMON_NUMBERS_PORTABLE_MATH_H

/* Returns the natural logarithm of a finite x > 0. */
double portable_log(double x);
/* Computes sine and cosine of `turn` whole turns (2 pi each), 0 <= turn < 1. */
void portable_sin_cos(double turn, double *sine, double *cosine);

#endif
