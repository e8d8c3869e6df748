/*
 * retrain_trigger - decides whether the newest version of a folder's dataset requires training
 * again (ingest.retrain_* in the pipeline file).
 *
 * It compares the version with that of the folder's newest run, and evaluates that run's model on
 * it if the pipeline file asks for that (version_drift.h, model_evaluation.h).
 */
#ifndef PIPELINES_WATCH_RETRAIN_TRIGGER_H
#define PIPELINES_WATCH_RETRAIN_TRIGGER_H

#include "common/base/error.h"
#include "common/base/json.h"
#include "pipelines/watch/model_evaluation.h"
#include "stages/plan/settings/version_drift.h"

#include <stdbool.h>

struct retrain_trigger {
    /* the run of the model; "": no run has completed training on an earlier version */
    char run_id[ID_SIZE];
    char dataset_id[ID_SIZE]; /* the version that the model was trained on */
    struct version_drift drift;
    struct model_evaluation before,
        /* metric of the model on the old and the new version; `now` only if it was asked for */
        now;
    bool asks;
    char why[VERSION_DRIFT_WHY_SIZE];
};

/* Compares `newest`, a version, with that of the model. `local` has options with the settings and
 * an open folder without a bound run; so it has at return. Fails: as version_drift_measure() and
 * model_evaluation_run(). */
MUST_CHECK enum error_code retrain_trigger_measure(struct local_run *local, const char *newest,
                                                   struct retrain_trigger *out, struct error *err);
/* Writes the result as members of the open JSON object. */
void retrain_trigger_put(struct json_writer *json, const struct retrain_trigger *trigger);
/* Returns by how much `now` is worse than `before`; negative when it is better, NaN when one is not
 * known. */
double model_evaluation_drop(const struct model_evaluation *before,
                             const struct model_evaluation *now);

#endif
