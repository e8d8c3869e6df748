/*
 * first_bounds - between which bounds the first values of a matrix are drawn.
 */
#ifndef COMMON_NN_OPERATORS_FIRST_BOUNDS_H
#define COMMON_NN_OPERATORS_FIRST_BOUNDS_H

#include <math.h>
#include <stdint.h>

/* Returns the bound of torch.nn.Linear, which is Kaiming uniform with a = sqrt(5). */
static inline float layer_linear_bound(uint32_t input_dim)
{
    return (float)(1 / sqrt((double)input_dim));
}
/* Returns the bound of Glorot and Bengio's uniform distribution. */
static inline float layer_glorot_bound(uint32_t input_dim, uint32_t output_dim)
{
    return (float)sqrt(6 / ((double)input_dim + (double)output_dim));
}

#endif
