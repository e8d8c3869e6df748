/*
 * run_rewind - sets a run back, so that records which it should keep and has lost are made again.
 *
 *      snapshot 48          54           60 = the run stands here
 *         |      rounds     |     x      |        x: gradient 57/0 is lost
 *                           ^            from here it goes on: rounds 54 .. 56 are there and are passed by,
 *                                        57 and what comes of it up to snapshot 60 is made again
 *
 * The queue takes a unit as done when its record is there, or is older than the snapshot that the run stands at.
 * So the switch is set back to the newest snapshot before the loss that is whole and has beside it what rounds behind it begin
 * with (one that is kept for its weights alone may not have it), or to the start of the run. That the
 * lost record is made before the run has passed by, the units up to the next snapshot have to wait for it: their
 * records are removed, too. Everything is a function of its inputs, so it all comes back with the same bytes.
 * Later snapshots stay: whoever wants their weights meanwhile has them. Only where a choice is lost of which they came
 * (chosen_base.h) do they go, with all that came of it: the rounds from there on may give other weights.
 */
#ifndef STAGES_PLAN_RUN_REWIND_H
#define STAGES_PLAN_RUN_REWIND_H

#include "common/base/error.h"
#include "stages/plan/promised_records.h"
#include "stages/plan/run_binding.h"
#include "store/objects/store.h"

#include <stddef.h>

/* `kept` is as it was before the loss, `lost` [count] are keys of records of the run that are gone. Weights and
 * optimizer state that a whole snapshot holds come back at once. Fails: ERROR_IO. */
MUST_CHECK enum error_code run_rewind(struct store *store, const struct run_binding *run,
                                      const struct kept_rounds *kept, const char *const *lost,
                                      size_t count, struct error *err);

#endif
