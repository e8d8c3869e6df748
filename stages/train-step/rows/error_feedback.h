/*
 * error_feedback - gradients of which the largest numbers alone are sent, and the rest is not lost.
 *
 *      gradient of (r, k) ──┐        ┌─> largest numbers ─> gradient record of (r, k)
 *                           ├─ sum ──┤
 *      residual of (q, k) ──┘        └─> the rest ────────> residual of (r, k)
 *
 * q is the last round before r that has slot k (store/records/round/residual.h has the sources of the method). A residual that the
 * rounds behind a snapshot need is on disk before that snapshot can be.
 */
#ifndef STAGES_TRAIN_STEP_ROWS_ERROR_FEEDBACK_H
#define STAGES_TRAIN_STEP_ROWS_ERROR_FEEDBACK_H

#include "common/base/arena.h"
#include "common/base/error.h"
#include "stages/engine/stage.h"
#include "store/records/round/gradient.h"

#include <stdint.h>

/* Leaves in `value` [count], the trained parameters of `gradient`, what is sent, publishes the rest and notes in `gradient` how much
 * that is. A slot without labelled seeds sends nothing, as aggregate leaves it out.
 * Fails: ERROR_NOT_FOUND and ERROR_CORRUPT of the residual before; ERROR_INPUT when a sum is not finite; ERROR_NO_MEMORY; ERROR_IO. */
MUST_CHECK enum error_code error_feedback_apply(const struct stage_context *context,
                                                const struct unit *unit, struct arena *arena,
                                                float *value, size_t count,
                                                struct gradient *gradient, struct error *err);

#endif
