/*
 * selected_inference - computes all layers of the model for some nodes of the target type, from
 * their neighbourhood only (selection.h).
 */
#ifndef STAGES_INFER_ROWS_SELECTED_INFERENCE_H
#define STAGES_INFER_ROWS_SELECTED_INFERENCE_H

#include "common/base/error.h"
#include "stages/infer/rows/selection.h"

/* The results for the type of the logits: rows of the features, then of each layer. Row i
 * belongs to node[i]; rows of other nodes follow. */
struct selected_rows {               /* {0} is empty */
    float *row[LAYER_COUNT_MAX + 1]; /* owned */
};

/* Computes *out, which the caller frees with selected_rows_release(). Fails: ERROR_NO_MEMORY if
 * the neighbourhood does not fit the budget, naming what does; ERROR_UNAVAILABLE when asked to
 * stop; ERROR_CORRUPT for damaged inputs. */
MUST_CHECK enum error_code selected_inference_run(const struct selection_config *config,
                                                  struct selected_rows *out, struct error *err);
void selected_rows_release(struct selected_rows *rows);

#endif
