/*
 * chosen_base - which weights the gradients of a round are made from.
 *
 * With aggregate.staleness: s it follows from the schedule (schedule_base()). With up_to s it is the newest version there is when
 * the first step of the round begins, at most s rounds old: whoever begins it stores that as a record
 * (store/records/round_base.h), the first one wins, and all slots of the round go by it. So a round never waits for one of the
 * s before it, its gradients are of one point, and any of its units gives the same bits again.
 */
#ifndef STAGES_PLAN_CHOSEN_BASE_H
#define STAGES_PLAN_CHOSEN_BASE_H

#include "common/base/error.h"
#include "stages/plan/schedule.h"
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

#endif
