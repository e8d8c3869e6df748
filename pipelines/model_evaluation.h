/*
 * model_evaluation - how good a model of the folder is on the validation split of the dataset's newest version.
 *
 *   weights of a run ─> model_source ─┐
 *   newest version ─> partition ──────┴─> a run of inference aside (run_import.h) ─> its outputs ─> the validation metric
 *
 * The run of inference has all outputs of the new version by the old weights, under an id of its own, so it can become the one that
 * people see (local_run_promote()); until then nothing of the folder says that it is there.
 */
#ifndef PIPELINES_MODEL_EVALUATION_H
#define PIPELINES_MODEL_EVALUATION_H

#include "common/base/error.h"
#include "common/nn/tasks/task.h"
#include "pipelines/local_run.h"
#include "store/objects/keys.h"
#include "store/objects/store.h"

struct model_evaluation {
    char run_id[ID_SIZE]; /* whose outputs they are; "": there are none */
    enum metric metric;   /* validation_metric.h */
    double value;         /* of all validation nodes, with all neighbours; NaN: there are none */
};

/* Of the outputs of a finished run. Fails: ERROR_NOT_FOUND without outputs; ERROR_CORRUPT. */
MUST_CHECK enum error_code model_evaluation_read(struct store *store, const char *run_id,
                                                 struct model_evaluation *out, struct error *err);
/* Applies the best weights of the run `model` to the newest version, which ingest made, or reads what that gave before. local: options
 * and an open folder; they are as before behind it, no run is bound. Fails: as model_source_open(), pipeline_run_stage() and
 * local_run_finish(). */
MUST_CHECK enum error_code model_evaluation_run(struct local_run *local, const char *model,
                                                struct model_evaluation *out, struct error *err);

#endif
