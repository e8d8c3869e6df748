/*
 * model_evaluation - measures a model of the folder on the validation split of the dataset's newest
 * version.
 *
 *   weights of a run ─> model_source ─┐
 *   newest version ─> partition ──────┴─> a run of inference aside (run_import.h) ─> its outputs
 *                                         ─> the validation metric
 *
 * The run of inference writes all outputs of the new version with the old weights. It has an id of
 * its own, so local_run_promote() can make it the run that the folder shows; until then no link of
 * the folder points to it.
 */
#ifndef PIPELINES_WATCH_MODEL_EVALUATION_H
#define PIPELINES_WATCH_MODEL_EVALUATION_H

#include "common/base/error.h"
#include "common/nn/tasks/task.h"
#include "pipelines/run/local_run.h"
#include "store/objects/keys.h"
#include "store/objects/store.h"

struct model_evaluation {
    char run_id[ID_SIZE]; /* the run that wrote the outputs; "": there are none */
    enum metric metric;   /* validation_metric.h */
    /* on all validation nodes, with all neighbours; NaN: there are no such nodes */
    double value;
};

/* Reads the metric from the outputs of a finished run. Fails: ERROR_NOT_FOUND without outputs;
 * ERROR_CORRUPT. */
MUST_CHECK enum error_code model_evaluation_read(struct store *store, const char *run_id,
                                                 struct model_evaluation *out, struct error *err);
/* Applies the best weights of the run `model` to the newest version that ingest made. If that was
 * done before, it reads the result. `local` has options and an open folder; both are unchanged at
 * return, and no run is bound. Fails: as model_source_open(), pipeline_run_stage() and
 * local_run_finish(). */
MUST_CHECK enum error_code model_evaluation_run(struct local_run *local, const char *model,
                                                struct model_evaluation *out, struct error *err);

#endif
