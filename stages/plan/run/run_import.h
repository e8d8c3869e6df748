/*
 * run_import - a run of inference alone: it begins, and ends training, with weights of another run.
 *
 * Its setting infer.model is "<version> <hash> <run>", so that its id depends on the weights. Its
 * schedule has that many rounds, of which none is done here, and no validation. Its plan says what
 * it began with (run_plan.h). Its only snapshot holds the weights and says stop. So inference,
 * outputs, replay and verify work as after any run that has ended.
 */
#ifndef STAGES_PLAN_RUN_RUN_IMPORT_H
#define STAGES_PLAN_RUN_RUN_IMPORT_H

#include "common/base/error.h"
#include "stages/plan/settings/pipeline_settings.h"
#include "store/objects/store.h"
#include "store/records/dataset/wanted_nodes.h"
#include "store/records/round/snapshot.h"

/* Stores the weights as the snapshot of the run that `settings`, with the setting above, make on
 * the partition that they made. value [value_count]; `table` is that of a snapshot. It is called at
 * every start, so that a lost or damaged snapshot is there again. `wanted`: the nodes that
 * settings->infer.nodes names, if it names some. Fails: ERROR_UNAVAILABLE without a partition; as
 * the store does. */
MUST_CHECK enum error_code run_import_put(struct store *store,
                                          const struct pipeline_settings *settings,
                                          const struct snapshot *model, const float *value,
                                          const struct wanted_nodes *wanted, struct error *err);

#endif
