/*
 * row_update - learnable rows from version to version, and their seals.
 *
 *   round r        gradients of all slots of round r, rows of version r  ->  rows of version r + 1
 *   seal-rows/v/s  rows of shard s in version v                          ->  seal of version v
 *
 * Whoever wants the rows of a version does that for itself, in its own tables (embedding_state.h): gradients are records
 * anyway, and of what a round makes of them nothing is written or waited for. The same gradients give the same bits.
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

/* Afterwards the rows are those of `version`; `before`: as in embedding_state_seek(). `arena` is reset, for what a round
 * takes. Fails: ERROR_NOT_FOUND when gradients are missing; ERROR_CORRUPT; ERROR_INPUT when training diverged;
 * ERROR_NO_MEMORY; ERROR_IO. */
MUST_CHECK enum error_code row_update_advance(const struct stage_context *context,
                                              struct embedding_state *state, int64_t version,
                                              bool before, struct arena *arena, struct error *err);
/* The same from the version that is there to the next, if that is `round` + 1 and the gradients of all slots are there; else,
 * and when it fails, nothing that counts happens: whoever wants the version meets the reason. */
void row_update_ahead(const struct stage_context *context, struct embedding_state *state,
                      int64_t round, struct arena *arena);
/* The same by the gradient of the only slot of `round`, which is in memory and not stored yet: where it can't be stored, the
 * caller begins the rows anew. */
void row_update_with(const struct stage_context *context, struct embedding_state *state,
                     int64_t round, const struct gradient *gradient, struct arena *arena);
/* Fails as row_update_advance(). */
MUST_CHECK enum error_code row_update_seal(const struct stage_context *context,
                                           struct embedding_state *state, int64_t version,
                                           int shard, struct arena *arena, struct error *err);

#endif
