/*
 * run_rewind - sets a run back, so that records that it should keep but has lost are made again.
 *
 *      snapshot 48          54           60 = the newest snapshot of the run
 *         |      rounds     |     x      |        x: gradient 57/0 is lost
 *                           ^            the run goes on from 54: rounds 54 .. 56 are there and are
 *                                        skipped, 57 and all that depends on it, up to snapshot 60,
 *                                        is made again
 *
 * The queue counts a unit as done when its record is there or is older than the newest snapshot of
 * the run. So the ref is set back to the newest whole snapshot before the loss that also has the
 * records with which the rounds after it begin (a snapshot that is kept for its weights alone may
 * not have them), or to the start of the run. The units up to the next snapshot have to wait for
 * the lost record, or the run would pass it by: so their records are removed, too. Every record is
 * a function of its inputs, so all of them come back with the same bytes.
 * Later snapshots stay, so that readers can go on using their weights. They are removed, with all
 * that was made from them, only when the lost record is a choice of weights (chosen_base.h) that
 * they depend on: from there on the rounds may give other weights.
 */
#ifndef STAGES_PLAN_RUN_RUN_REWIND_H
#define STAGES_PLAN_RUN_RUN_REWIND_H

#include "common/base/error.h"
#include "stages/plan/run/promised_records.h"
#include "stages/plan/run/run_binding.h"
#include "store/objects/store.h"

#include <stddef.h>

/* `kept` is the state before the loss; `lost` [count] are keys of records of the run that are gone.
 * Weights and optimizer state that a whole snapshot holds are restored from it at once. Fails:
 * ERROR_IO. */
MUST_CHECK enum error_code run_rewind(struct store *store, const struct run_binding *run,
                                      const struct kept_rounds *kept, const char *const *lost,
                                      size_t count, struct error *err);

#endif
