/* tail_reference - computes what follows a layer before its activation (layer_tail.h), in double
 * precision, with the formulas of the papers. */
#ifndef TESTS_REFERENCE_TAIL_REFERENCE_H
#define TESTS_REFERENCE_TAIL_REFERENCE_H

#include "common/nn/model.h"

#include <stdbool.h>

/* A norm that is applied in place to y [rows, dim]. Its tensors are [dim] each; a layer norm has
 * no running statistics. `by_batch`: as below. */
struct norm_reference {
    enum norm_kind kind;
    const double *weight, *bias, *mean, *variance;
};
void norm_reference_apply(const struct norm_reference *norm, uint32_t rows, uint32_t dim,
                          bool by_batch, double *y);

/* Adds the residual of x [at least rows, input_dim] to y [rows, output_dim] in place, then
 * applies the norm. `by_batch`: a batch norm uses the statistics of these rows if there is more
 * than one row; otherwise it uses its running statistics. */
void tail_reference_apply(const struct model *model, int layer, const double *value,
                          const double *x, uint32_t rows, bool by_batch, double *y);

#endif
