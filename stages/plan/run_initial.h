/*
 * run_initial - a run that begins with the weights of another one, and is trained further: a warm start.
 *
 * Its setting train-step.initial is "<version> <hash> <run>" (run_origin.h), so that its id depends on the weights. They
 * stand in a record of the run itself, put before it starts: the run needs the other one no more, whose records may be pruned. From there aggregate
 * takes version 0, with the state of an optimizer that has made no step; all else is as in any run.
 */
#ifndef STAGES_PLAN_RUN_INITIAL_H
#define STAGES_PLAN_RUN_INITIAL_H

#include "common/base/error.h"
#include "common/nn/model.h"
#include "stages/plan/pipeline_settings.h"
#include "store/objects/store.h"
#include "store/records/snapshot.h"

/* Puts the weights of the run that `settings`, so named, make on the partition that they made. value [model->value_count]; table as
 * in a snapshot. Again with every start: a lost or damaged one is there again.
 * Fails: ERROR_UNAVAILABLE without a partition; as the store does. */
MUST_CHECK enum error_code run_initial_put(struct store *store,
                                           const struct pipeline_settings *settings,
                                           const struct snapshot *model, const float *value,
                                           struct error *err);
/* Reads them into value [model->value_count].
 * Fails: ERROR_NOT_FOUND; ERROR_CORRUPT unless they are those that the settings name, laid out as the model wants them. */
MUST_CHECK enum error_code run_initial_get(struct store *store,
                                           const struct pipeline_settings *settings,
                                           const char *run_id, const struct model *model,
                                           float *value, struct error *err);

#endif
