/*
 * run_adoption - starts a new run from the newest usable snapshot of a sibling.
 *
 * Siblings are runs that differ in their target alone: epochs and checkpoint.patience. No round
 * depends on those, so up to the earlier end their records are the same, bit for bit. A new run
 * takes over the newest snapshot of a sibling that it would have made itself, and trains on from
 * there: more epochs cost only those epochs.
 *
 * The new run does not replace the old one, because a snapshot says whether training ends with it,
 * and because the last snapshot of a run may be at a round where another run has none. A finished
 * run stays as it is, with its outputs, and can be read, verified and resumed. The new run takes
 * over the snapshot with its validation, and the lines of metrics.jsonl up to it. If they are lost,
 * the new run makes them itself, from its start.
 *
 * These cannot be taken over:
 * - any snapshot with aggregate.schedule: cosine: every learning rate depends on epochs, so there
 *   are no siblings;
 * - the last snapshot of a run whose end is no multiple of checkpoint.every_epochs, or a snapshot
 *   inside a stored sampling pass (sample.reuse_epochs), whose mini-batches belong to the sibling;
 * - with patience, a snapshot of a run that was more patient: this run might have stopped before
 *   it;
 * - a snapshot of another environment.
 *
 * The ref current/lineage/<digits> has the ids of siblings, the newest first.
 */
#ifndef STAGES_PLAN_RUN_RUN_ADOPTION_H
#define STAGES_PLAN_RUN_RUN_ADOPTION_H

#include "common/base/error.h"
#include "stages/plan/chain/schedule.h"
#include "stages/plan/settings/pipeline_settings.h"
#include "store/objects/store.h"
#include "store/records/round/run_plan.h"

/* Finds the snapshot to begin from and stores it in plan->first_version and origin: 0 and "" if
 * there is none. `plan` has id, partition and environment of the new run. Writes nothing to the
 * store. */
MUST_CHECK enum error_code run_adoption_find(struct store *store,
                                             const struct pipeline_settings *settings,
                                             const struct schedule *schedule, struct run_plan *plan,
                                             struct error *err);
/* Copies the snapshot to the new run. The caller does this before it puts the plan: so a run that
 * exists has what it begins from. */
MUST_CHECK enum error_code run_adoption_take(struct store *store,
                                             const struct pipeline_settings *settings,
                                             const struct schedule *schedule,
                                             const struct run_plan *plan, struct error *err);
/* Adds the run to the list that later siblings read. */
MUST_CHECK enum error_code run_adoption_note(struct store *store,
                                             const struct pipeline_settings *settings,
                                             const struct run_plan *plan, struct error *err);

#endif
