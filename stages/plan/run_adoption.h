/*
 * run_adoption - a new run that begins where a sibling stands.
 *
 * Siblings are runs that differ in their target alone: epochs and checkpoint.patience. No round depends on those, so
 * up to the earlier end their records are the same, bit for bit. A new run takes the newest snapshot of a sibling
 * that it would have made itself, as its own, and trains on from there: more epochs cost only those epochs.
 *
 * A run of its own, and not the old one with another end, because a snapshot says whether training ends with it, and
 * because the last one of a run may stand where another run has none: a finished run stays as it is, with its
 * outputs, and can be read, verified and gone back to. What is taken is the snapshot with its
 * validation, and the lines of metrics.jsonl up to it; were they lost, the new run would make them itself, from its start.
 *
 * What cannot be taken over:
 *   - with aggregate.schedule: cosine every learning rate depends on epochs, so there are no siblings;
 *   - the snapshot of an end that is no multiple of checkpoint.every_epochs, nor one in the midst of a stored sampling
 *     pass (sample.reuse_epochs), whose mini-batches belong to the sibling;
 *   - with patience, a snapshot of a run that was more patient: this one might have stopped before;
 *   - anything of another environment.
 *
 * The switch current/lineage/<digits> has the ids of siblings, the newest first.
 */
#ifndef STAGES_PLAN_RUN_ADOPTION_H
#define STAGES_PLAN_RUN_ADOPTION_H

#include "common/base/error.h"
#include "stages/plan/pipeline_settings.h"
#include "stages/plan/schedule.h"
#include "store/objects/store.h"
#include "store/records/run_plan.h"

/* Finds the snapshot to begin from and notes it in plan->first_version and origin: 0 and "" when there is none.
 * `plan` has id, partition and environment of the new run. Writes nothing. */
MUST_CHECK enum error_code run_adoption_find(struct store *store,
                                             const struct pipeline_settings *settings,
                                             const struct schedule *schedule, struct run_plan *plan,
                                             struct error *err);
/* Makes it the new run's own. Done before the plan is put: a run that is there has what it begins from. */
MUST_CHECK enum error_code run_adoption_take(struct store *store,
                                             const struct pipeline_settings *settings,
                                             const struct schedule *schedule,
                                             const struct run_plan *plan, struct error *err);
/* Makes the run known to siblings to come. */
MUST_CHECK enum error_code run_adoption_note(struct store *store,
                                             const struct pipeline_settings *settings,
                                             const struct run_plan *plan, struct error *err);

#endif
