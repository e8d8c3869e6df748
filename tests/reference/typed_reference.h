/* typed_reference - computes a model over node types and relations in double precision, edge by
 * edge, with the formulas of the papers. */
#ifndef TESTS_REFERENCE_TYPED_REFERENCE_H
#define TESTS_REFERENCE_TYPED_REFERENCE_H

#include "common/nn/model.h"

/* Returns the logits of the target type [its destinations of the last block,
 * model_output_dim()], which the caller frees. The blocks have a row for each destination.
 * Tensors are found by their names. `x` [types] holds the input rows without padding. */
double *typed_reference_logits(const struct model *model, const double *value,
                               const struct relation_block *block, double *const *x,
                               const struct random_stream *dropout, bool by_batch);

#endif
