/*
 * row_update - advances the learnable rows from version to version, and writes their seals.
 *
 *   round r        gradients of all slots of round r, rows of version r  ->  rows of version r + 1
 *   seal-rows/v/s  rows of shard s in version v                          ->  seal of version v
 *
 * Each worker computes the rows of a version itself, in its own tables (embedding_state.h). The
 * gradients are stored anyway, so the updated rows of a round need not be written or waited for.
 * The same gradients give the same bits.
 */
#ifndef STAGES_TRAIN_STEP_ROWS_ROW_UPDATE_H
#define STAGES_TRAIN_STEP_ROWS_ROW_UPDATE_H

#include "common/base/arena.h"
#include "common/base/error.h"
#include "stages/engine/stage.h"
#include "stages/train-step/rows/embedding_state.h"
#include "store/records/round/gradient.h"

#include <stdbool.h>
#include <stdint.h>

/* Advances the rows to `version`. `before`: as in embedding_state_seek(). Uses `arena` for a
 * round and resets it. Fails: ERROR_NOT_FOUND if gradients are missing; ERROR_CORRUPT;
 * ERROR_INPUT if training diverged; ERROR_NO_MEMORY; ERROR_IO. */
MUST_CHECK enum error_code row_update_advance(const struct stage_context *context,
                                              struct embedding_state *state, int64_t version,
                                              bool before, struct arena *arena, struct error *err);
/* Advances the rows from version `round` to `round` + 1, if they have that version and the
 * gradients of all slots are stored. Otherwise it does nothing. A failure is ignored:
 * row_update_advance() reports it when that version is needed. */
void row_update_ahead(const struct stage_context *context, struct embedding_state *state,
                      int64_t round, struct arena *arena);
/* Advances the rows by the gradient of the only slot of `round`. The gradient is in memory and
 * not stored yet. If storing it fails, the caller begins the rows anew. */
void row_update_with(const struct stage_context *context, struct embedding_state *state,
                     int64_t round, const struct gradient *gradient, struct arena *arena);
/* Writes the seal of `shard` in `version`. Fails as row_update_advance(). */
MUST_CHECK enum error_code row_update_seal(const struct stage_context *context,
                                           struct embedding_state *state, int64_t version,
                                           int shard, struct arena *arena, struct error *err);

#endif
