/* tail_reference - what follows a layer before its activation (layer_tail.h), in double precision, as its papers write it. */
#ifndef TESTS_REFERENCE_TAIL_REFERENCE_H
#define TESTS_REFERENCE_TAIL_REFERENCE_H

#include "common/nn/model.h"

#include <stdbool.h>

/* In place on y [rows, output_dim]: the residual of x [at least rows, input_dim], then the norm. `by_batch`: a batch norm goes
 * by these rows, if there are more than one, else by its running statistics. */
void tail_reference_apply(const struct model *model, int layer, const double *value,
                          const double *x, uint32_t rows, bool by_batch, double *y);

#endif
