/*
 * step_publish - a step's gradient goes to storage, and the learnable rows to the next version beside it.
 *
 * Where a round has one slot its gradient is all that the next version of the rows takes (row_update.h), and it is in
 * memory. So one thread writes the record, mostly in the kernel, while the others change the rows, and nothing is read back.
 * Not where rows are rounded as they are stored (train-step.gradient: bf16, int8): what all workers read back counts.
 */
#ifndef STAGES_TRAIN_STEP_STEP_PUBLISH_H
#define STAGES_TRAIN_STEP_STEP_PUBLISH_H

#include "common/base/arena.h"
#include "common/base/error.h"
#include "stages/engine/stage.h"
#include "stages/train-step/embedding_state.h"
#include "store/records/gradient.h"

#include <stdint.h>

/* Stores the gradient of a training unit, encoded as the run has it; trained_count: of its values, those that are trained. `state`: NULL
 * without learnable rows. `arena` is reset, for what the rows take; the gradient lies elsewhere. Fails as gradient_put(); then the
 * rows are begun anew. */
MUST_CHECK enum error_code step_publish(const struct stage_context *context,
                                        const struct unit *unit, const struct gradient *gradient,
                                        uint64_t trained_count, struct embedding_state *state,
                                        struct arena *arena, struct error *err);

#endif
