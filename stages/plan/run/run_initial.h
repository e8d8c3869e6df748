/*
 * run_initial - a run that begins with the weights of another one and trains them further: a warm
 * start.
 *
 * Its setting train-step.initial is "<version> <hash> <run>" (run_origin.h), so that its id depends
 * on the weights. The weights are copied to a record of the new run before it starts, so the other
 * run may be pruned. aggregate makes version 0 from this record, with the state of an optimizer
 * that has made no step. Everything else is as in any run.
 */
#ifndef STAGES_PLAN_RUN_RUN_INITIAL_H
#define STAGES_PLAN_RUN_RUN_INITIAL_H

#include "common/base/error.h"
#include "common/nn/model.h"
#include "stages/plan/settings/pipeline_settings.h"
#include "store/objects/store.h"
#include "store/records/round/snapshot.h"

/* Stores the weights for the run that `settings`, with the setting above, make on the partition
 * that they made. value [model->value_count]; `table` is that of a snapshot. It is called at every
 * start, so that a lost or damaged record is there again. Fails: ERROR_UNAVAILABLE without a
 * partition; as the store does. */
MUST_CHECK enum error_code run_initial_put(struct store *store,
                                           const struct pipeline_settings *settings,
                                           const struct snapshot *model, const float *value,
                                           struct error *err);
/* Reads the weights into value [model->value_count]. Fails: ERROR_NOT_FOUND; ERROR_CORRUPT unless
 * they are the weights that the settings name, laid out as the model wants them. */
MUST_CHECK enum error_code run_initial_get(struct store *store,
                                           const struct pipeline_settings *settings,
                                           const char *run_id, const struct model *model,
                                           float *value, struct error *err);

#endif
