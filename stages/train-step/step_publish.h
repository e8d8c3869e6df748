/*
 * step_publish - writes the gradient of a step to the store, and updates the learnable rows at the
 * same time.
 *
 * In a round of one slot, the next version of the rows needs only this gradient (row_update.h),
 * which is in memory. One thread writes the record, mostly in the kernel, while the others change
 * the rows, and nothing is read back. This is not done if the gradient is rounded in its record
 * (train-step.gradient: bf16, int8), because all workers must use the rounded values.
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

struct publication { /* valid from begin to end; borrows the arguments of begin */
    const struct stage_context *context;
    const struct unit *unit;
    const struct gradient *gradient;
    uint64_t trained_count;
    struct embedding_state *state;
    /* counted by the thread that encodes; the unit's own thread reports it */
    struct encoding_work work;
    bool is_beside; /* whether `thread` stores the record */
    pthread_t thread;
    enum error_code rc;
    struct error err;
};

/* Begins to store the gradient of a training unit, in the encoding of the run. trained_count:
 * number of its trained values. `state`: NULL without learnable rows. Resets `arena`, which the
 * row update uses; the gradient lies elsewhere and must stay there until the end. After the call
 * the rows have the next version, or the current one if they cannot be updated yet. */
void step_publish_begin(struct publication *publication, const struct stage_context *context,
                        const struct unit *unit, const struct gradient *gradient,
                        uint64_t trained_count, struct embedding_state *state, struct arena *arena);
/* Waits until the gradient is stored. Fails as gradient_put(); the caller then calls
 * step_publish_undo(), when nobody reads the rows. */
MUST_CHECK enum error_code step_publish_end(struct publication *publication, struct error *err);
void step_publish_undo(struct publication *publication);

#endif
