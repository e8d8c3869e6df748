/*
 * selected_inference - all layers of the model for some nodes of the target type, from their
 * neighbourhood alone (selection.h).
 */
#ifndef STAGES_INFER_ROWS_SELECTED_INFERENCE_H
#define STAGES_INFER_ROWS_SELECTED_INFERENCE_H

#include "common/base/error.h"
#include "stages/infer/rows/selection.h"

/* What comes out: rows of the features, then of each layer, of the type of the logits: those of
 * node[i] in row i, behind them others. */
struct selected_rows {               /* {0} is empty */
    float *row[LAYER_COUNT_MAX + 1]; /* owned */
};

/* Owns: *out; selected_rows_release(). Fails: ERROR_NO_MEMORY when the neighbourhood does not fit
 * the budget, saying what does; ERROR_UNAVAILABLE when asked to stop; ERROR_CORRUPT for damaged
 * inputs. */
MUST_CHECK enum error_code selected_inference_run(const struct selection_config *config,
                                                  struct selected_rows *out, struct error *err);
void selected_rows_release(struct selected_rows *rows);

#endif
