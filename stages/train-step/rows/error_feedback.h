/*
 * error_feedback - publishes only the largest numbers of a gradient, and keeps the rest for a
 * later round.
 *
 *      gradient of (r, k) ──┐        ┌─> largest numbers ─> gradient record of (r, k)
 *                           ├─ sum ──┤
 *      residual of (q, k) ──┘        └─> the rest ────────> residual of (r, k)
 *
 * q is the last round before r that has slot k. store/records/round/residual.h names the papers. A
 * residual that the rounds after a snapshot need is on disk before that snapshot can exist.
 */
#ifndef STAGES_TRAIN_STEP_ROWS_ERROR_FEEDBACK_H
#define STAGES_TRAIN_STEP_ROWS_ERROR_FEEDBACK_H

#include "common/base/arena.h"
#include "common/base/error.h"
#include "stages/engine/stage.h"
#include "store/records/round/gradient.h"

#include <stdint.h>

/* Leaves in `value` [count], the trained parameters of `gradient`, only the numbers that are
 * published. Publishes the rest as a residual, and adds its size to `gradient`. A slot without
 * labelled seeds publishes no numbers, because aggregate leaves the slot out.
 * Fails: ERROR_NOT_FOUND and ERROR_CORRUPT for the residual before; ERROR_INPUT if a sum is not
 * finite; ERROR_NO_MEMORY; ERROR_IO. */
MUST_CHECK enum error_code error_feedback_apply(const struct stage_context *context,
                                                const struct unit *unit, struct arena *arena,
                                                float *value, size_t count,
                                                struct gradient *gradient, struct error *err);

#endif
