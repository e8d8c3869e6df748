/*
 * run_import - a run of inference alone: it begins, and ends training, with weights of another run.
 *
 * Its setting infer.model is "<version> <hash> <run>", so that its id depends on the weights; its schedule has that many
 * rounds, of which none is done here, and no validation; its plan says what it began with (run_plan.h), and its only snapshot
 * holds the weights and says stop. What follows a run that ended follows from that: inference, outputs, replay, verify.
 */
#ifndef STAGES_PLAN_RUN_IMPORT_H
#define STAGES_PLAN_RUN_IMPORT_H

#include "common/base/error.h"
#include "stages/plan/pipeline_settings.h"
#include "store/objects/store.h"
#include "store/records/snapshot.h"
#include "store/records/wanted_nodes.h"

/* Puts the weights as the snapshot of the run that `settings`, so named, make on the partition that they made. value
 * [value_count]; table as in a snapshot. Again with every start: a lost or damaged one is there again.
 * wanted: the nodes that settings->infer.nodes names, where it names some. Fails: ERROR_UNAVAILABLE without a partition; as the store does. */
MUST_CHECK enum error_code run_import_put(struct store *store,
                                          const struct pipeline_settings *settings,
                                          const struct snapshot *model, const float *value,
                                          const struct wanted_nodes *wanted, struct error *err);

#endif
