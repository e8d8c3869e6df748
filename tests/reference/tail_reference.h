/* tail_reference - what follows a layer before its activation (layer_tail.h), in double precision, as its papers write it. */
#ifndef TESTS_REFERENCE_TAIL_REFERENCE_H
#define TESTS_REFERENCE_TAIL_REFERENCE_H

#include "common/nn/model.h"

#include <stdbool.h>

/* A norm in place on y [rows, dim]. Its tensors are [dim] each; a layer norm has no running ones.
 * `by_batch` as below. */
struct norm_reference {
    enum norm_kind kind;
    const double *weight, *bias, *mean, *variance;
};
void norm_reference_apply(const struct norm_reference *norm, uint32_t rows, uint32_t dim,
                          bool by_batch, double *y);

/* In place on y [rows, output_dim]: the residual of x [at least rows, input_dim], then the norm. `by_batch`: a batch norm goes
 * by these rows, if there are more than one, else by its running statistics. */
void tail_reference_apply(const struct model *model, int layer, const double *value,
                          const double *x, uint32_t rows, bool by_batch, double *y);

#endif
