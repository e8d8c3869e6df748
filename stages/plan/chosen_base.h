/*
 * chosen_base - which weights the gradients of a round are made from.
 *
 * With aggregate.staleness: s it follows from the schedule (schedule_base()). With up_to s it is the newest version there is when
 * the first step of the round begins, at most s rounds old: whoever begins it stores that as a record
 * (store/records/round_base.h), the first one wins, and all slots of the round go by it. So a round never waits for one of the
 * s before it, its gradients are of one point, and any of its units gives the same bits again.
 *
 * The choices are what happened, and nothing else says it: they are flushed to disk, and kept as long as the run, so that a run that
 * is set back to any snapshot, or to its start, comes to the same weights again. Of a choice that is lost all the same, and that no
 * gradient tells of, what came of its round is worth nothing: no unit chooses anew beside it, and verify sets the run back
 * (run_rewind.h).
 */
#ifndef STAGES_PLAN_CHOSEN_BASE_H
#define STAGES_PLAN_CHOSEN_BASE_H

#include "common/base/error.h"
#include "stages/plan/schedule.h"
#include "stages/plan/unit_list.h"
#include "store/objects/store.h"

#include <stdbool.h>
#include <stdint.h>

/* Fails: ERROR_NOT_FOUND when no step of the round began; ERROR_CORRUPT. */
MUST_CHECK enum error_code chosen_base_get(const struct schedule *s, struct store *store,
                                           const char *run_id, int64_t round, int64_t *base,
                                           struct error *err);
/* Whether the record of a round is there, or can be stored again as a gradient of the round says. */
MUST_CHECK enum error_code chosen_base_mend(const struct schedule *s, struct store *store,
                                            const char *run_id, int64_t round, bool *is_there,
                                            struct error *err);
/* Chooses where nobody has; gradients of the round that are there say what was chosen when the record is lost. Fails:
 * ERROR_NOT_FOUND without weights that are new enough; ERROR_CORRUPT, also when a choice is lost that later weights are made of. */
MUST_CHECK enum error_code chosen_base_take(const struct schedule *s, struct store *store,
                                            const char *run_id, int64_t round, int64_t *base,
                                            struct error *err);
/* What `unit` reads by what was chosen, and does not wait for: whoever makes those weights, appended to `out`. Nothing where nothing
 * was chosen yet, or the weights are those that the unit waits for. */
MUST_CHECK enum error_code chosen_base_reads(const struct schedule *s, struct store *store,
                                             const char *run_id, const struct unit *unit,
                                             struct unit_list *out, struct error *err);
/* The newest version, above `version`, of which there are weights or a snapshot; `version` where there are none. */
MUST_CHECK enum error_code chosen_base_newest_made(struct store *store, const char *run_id,
                                                   int64_t version, int64_t *newest,
                                                   struct error *err);
/* The first round from `from` on whose choice is lost, and told by no gradient, with weights or a snapshot there that came of it; -1: there is none. */
MUST_CHECK enum error_code chosen_base_first_lost(const struct schedule *s, struct store *store,
                                                  const char *run_id, int64_t from, int64_t *round,
                                                  struct error *err);

#endif
