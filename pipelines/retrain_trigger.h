/*
 * retrain_trigger - does the newest version of a folder's dataset ask for training again (ingest.retrain_* in the pipeline file)?
 *
 * It is compared with the version that the newest run of the folder is of, and that run's model is evaluated on it if the pipeline file
 * asks for that (version_drift.h, model_evaluation.h).
 */
#ifndef PIPELINES_RETRAIN_TRIGGER_H
#define PIPELINES_RETRAIN_TRIGGER_H

#include "common/base/error.h"
#include "common/base/json.h"
#include "pipelines/model_evaluation.h"
#include "stages/plan/version_drift.h"

#include <stdbool.h>

struct retrain_trigger {
    char run_id[ID_SIZE]; /* of the model; "": no run was trained to its end on a version below */
    char dataset_id[ID_SIZE]; /* the version that it is of */
    struct version_drift drift;
    struct model_evaluation before,
        now; /* of the model on either version; `now` when it was asked for */
    bool asks;
    char why[VERSION_DRIFT_WHY_SIZE];
};

/* local: options with the settings, and an open folder without a bound run; likewise behind it. `newest`: the version.
 * Fails: as version_drift_measure() and model_evaluation_run(). */
MUST_CHECK enum error_code retrain_trigger_measure(struct local_run *local, const char *newest,
                                                   struct retrain_trigger *out, struct error *err);
/* What was found, as members of the open object. */
void retrain_trigger_put(struct json_writer *json, const struct retrain_trigger *trigger);
/* By how much `now` is worse than `before`; below 0 when it is better, NaN when one is not known. */
double model_evaluation_drop(const struct model_evaluation *before,
                             const struct model_evaluation *now);

#endif
