/*
 * selected_inference - all layers of the model for some nodes of a graph without relations, from their neighbourhood alone (selection.h).
 */
#ifndef STAGES_INFER_SELECTED_INFERENCE_H
#define STAGES_INFER_SELECTED_INFERENCE_H

#include "common/base/arena.h"
#include "common/base/error.h"
#include "stages/infer/selection.h"
#include "stages/plan/edge_use.h"
#include "stages/sampling/neighbor_sampler.h"

struct selected_inference_config { /* all borrowed */
    struct selection_config selection;
    const struct edge_use *edge_use;
    const float *weights; /* [model->value_count] */
    struct neighbor_sampler *sampler;
    struct arena *arena; /* reset for each tile */
};

/* Owns: *out; selected_rows_release(). Fails: ERROR_NO_MEMORY when the neighbourhood does not fit the budget, saying what
 * does; ERROR_UNAVAILABLE when asked to stop; ERROR_CORRUPT for damaged inputs. */
MUST_CHECK enum error_code selected_inference_run(const struct selected_inference_config *config,
                                                  struct selected_rows *out, struct error *err);

#endif
