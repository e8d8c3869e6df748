/*
 * layer_row - checks that the row of a layer kind (layer.h) fits the code that works with it.
 *
 * A linear kind only describes itself, and layer_pass.h believes the description: the number of
 * matrices says how wide an aggregated row is, and the one vector is the bias. A row that
 * contradicts its own weigh() would make the layer read and write past its rows. model_init()
 * therefore refuses such a row before it uses it.
 */
#ifndef COMMON_NN_TYPED_LAYER_ROW_H
#define COMMON_NN_TYPED_LAYER_ROW_H

#include "common/base/error.h"
#include "common/nn/description/model_description.h"

/* Checks the row of a layer that has its kind, widths and options. Fails: ERROR_BUG, with the rule
 * that the row breaks. */
MUST_CHECK enum error_code layer_row_check(const struct model_layer *layer, struct error *err);
/* Does the same for a layer of a typed graph: checks `layer->typed`. */
MUST_CHECK enum error_code layer_row_check_typed(const struct model_layer *layer,
                                                 struct error *err);

#endif
