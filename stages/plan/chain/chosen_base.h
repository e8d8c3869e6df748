/*
 * chosen_base - the version of the weights that the gradients of a round are computed with.
 *
 * With aggregate.staleness: s the schedule gives it (schedule_base()). With `up_to s` a round uses
 * the newest version that exists when its first step begins, at most s rounds old. The worker that
 * begins this step stores the choice in a record (store/records/round/round_base.h); the first record
 * wins, and all slots of the round use it. So a round never waits for one of the s rounds before
 * it, all its gradients are computed at one point, and each of its units gives the same bits when
 * it is done again.
 *
 * A choice depends on timing and cannot be computed again. So choices are flushed to disk and kept
 * as long as the run: a run that is set back to any snapshot, or to its start, then reaches the
 * same weights again. If a choice is lost all the same, and no gradient has a copy of it,
 * everything made from its round is useless: no unit chooses anew beside it, and verify sets the
 * run back (run_rewind.h).
 */
#ifndef STAGES_PLAN_CHAIN_CHOSEN_BASE_H
#define STAGES_PLAN_CHAIN_CHOSEN_BASE_H

#include "common/base/error.h"
#include "stages/plan/chain/schedule.h"
#include "stages/plan/chain/unit_list.h"
#include "store/objects/store.h"

#include <stdbool.h>
#include <stdint.h>

/* Reads the choice of a round. Fails: ERROR_NOT_FOUND if no step of the round has begun;
 * ERROR_CORRUPT. */
MUST_CHECK enum error_code chosen_base_get(const struct schedule *s, struct store *store,
                                           const char *run_id, int64_t round, int64_t *base,
                                           struct error *err);
/* Sets *is_there to whether the choice of a round is stored. A lost record is first stored again if
 * a gradient of the round has a copy of the choice. */
MUST_CHECK enum error_code chosen_base_mend(const struct schedule *s, struct store *store,
                                            const char *run_id, int64_t round, bool *is_there,
                                            struct error *err);
/* Reads the choice of a round, or chooses if nobody has chosen. If the record is lost, gradients of
 * the round give the choice. Fails: ERROR_NOT_FOUND without weights that are new enough;
 * ERROR_CORRUPT, also when a choice is lost that later weights are made from. */
MUST_CHECK enum error_code chosen_base_take(const struct schedule *s, struct store *store,
                                            const char *run_id, int64_t round, int64_t *base,
                                            struct error *err);
/* Appends to `out` the unit that makes the weights that `unit` reads by a choice and does not wait
 * for. Appends nothing if nothing was chosen yet, or if the unit waits for these weights. */
MUST_CHECK enum error_code chosen_base_reads(const struct schedule *s, struct store *store,
                                             const char *run_id, const struct unit *unit,
                                             struct unit_list *out, struct error *err);
/* Sets *newest to the newest version above `version` that has weights or a snapshot; to `version`
 * if there is none. */
MUST_CHECK enum error_code chosen_base_newest_made(struct store *store, const char *run_id,
                                                   int64_t version, int64_t *newest,
                                                   struct error *err);
/* Sets *round to the first round, from `from` on, whose choice is lost and in no gradient, although
 * weights or a snapshot were made from it; -1: there is none. */
MUST_CHECK enum error_code chosen_base_first_lost(const struct schedule *s, struct store *store,
                                                  const char *run_id, int64_t from, int64_t *round,
                                                  struct error *err);

#endif
