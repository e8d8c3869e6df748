/*
 * typed_selection - all layers of a model over relations for some nodes of the target type, from their neighbourhood alone (selection.h).
 */
#ifndef STAGES_INFER_TYPED_SELECTION_H
#define STAGES_INFER_TYPED_SELECTION_H

#include "common/base/error.h"
#include "stages/infer/selection.h"
#include "stages/infer/typed_tiles.h"

/* `tiles` are of the model and topology of `config`; weights [model->value_count]. Owns and fails as selected_inference_run(). */
MUST_CHECK enum error_code typed_selection_run(const struct selection_config *config,
                                               struct typed_tiles *tiles, const float *weights,
                                               struct selected_rows *out, struct error *err);

#endif
