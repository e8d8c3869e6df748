/*
 * model_check - refuses models that cannot be computed, before their tensors are made.
 */
#ifndef COMMON_NN_MODEL_CHECK_H
#define COMMON_NN_MODEL_CHECK_H

#include "common/nn/model.h"

/* Checks the number of layers, the types and relations, and the widths of the rows that come in.
 * Fails: ERROR_INVALID. */
MUST_CHECK enum error_code model_check_types(const struct model_config *config, struct error *err);
/* Checks layer `number`, whose widths and options are known. Fails: ERROR_INVALID; ERROR_BUG for a
 * wrong row of layer_list.h. */
MUST_CHECK enum error_code model_check_layer(const struct model *model, int number,
                                             struct error *err);
/* Checks, when all layers are there, that a model over several relations reads neighbours. */
MUST_CHECK enum error_code model_check_hops(const struct model *model, struct error *err);

#endif
