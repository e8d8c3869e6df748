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
#include "stages/train-step/rows/embedding_state.h"
#include "store/records/round/gradient.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct publication { /* from begin to end; borrows what begin was given */
    const struct stage_context *context;
    const struct unit *unit;
    const struct gradient *gradient;
    uint64_t trained_count;
    struct embedding_state *state;
    struct encoding_work work; /* of whichever thread; told by the unit's own */
    bool is_beside;            /* `thread` stores it */
    pthread_t thread;
    enum error_code rc;
    struct error err;
};

/* Begins to store the gradient of a training unit, encoded as the run has it; trained_count: of its values, those that are
 * trained. `state`: NULL without learnable rows. `arena` is reset, for what the rows take; the gradient lies elsewhere, and stays
 * there until the end. In between the rows are those of the next version, or where they can't be yet, of this one. */
void step_publish_begin(struct publication *publication, const struct stage_context *context,
                        const struct unit *unit, const struct gradient *gradient,
                        uint64_t trained_count, struct embedding_state *state, struct arena *arena);
/* It is stored. Fails as gradient_put(); then step_publish_undo(), when nobody reads the rows. */
MUST_CHECK enum error_code step_publish_end(struct publication *publication, struct error *err);
void step_publish_undo(struct publication *publication);

#endif
