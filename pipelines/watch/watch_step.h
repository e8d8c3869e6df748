/*
 * watch_step - one update of the folder: applied, looked at, trained on if a trigger says so, put away.
 *
 *   watch.json: name, base ─> graphmill-ingest --base ─> retrain_trigger ─┬─ no: the model stays
 *                                                                         └─ asks: a warm run aside, the old model on the new version
 *                                                                            aside; the better one by the validation metric is kept
 *   watch.json: which, and the words ─> it is the newest run of the folder ─> done/NAME
 *
 * Each piece is a run or a version that is found again by its id, and nothing is decided twice: killed at any moment, the next start ends it
 * with the same versions, models and words, but for the seconds that it took.
 */
#ifndef PIPELINES_WATCH_WATCH_STEP_H
#define PIPELINES_WATCH_WATCH_STEP_H

#include "common/base/error.h"
#include "common/base/options.h"
#include "pipelines/local_run.h"
#include "pipelines/watch/watch_inbox.h"

struct watch { /* {0} is closed; large for a stack */
    struct pipeline_options options;
    struct option_list warm; /* settings of warm runs alone */
    struct watch_inbox inbox;
    struct local_run local; /* while an update is worked on */
    int refused;            /* updates, since the start */
};

/* A model for updates to begin from: the newest run of the folder if that is finished and of a version of this dataset, or else the run of
 * the pipeline file, to its end. Fails: as graphmill run does. */
MUST_CHECK enum error_code watch_have_model(struct watch *watch, struct error *err);
/* Works on the next update, if there is one (*found), and prints what came of it on stdout. One that does not fit is put away as refused.
 * Fails: as the programs do, ERROR_UNAVAILABLE when asked to stop; nothing is lost then. */
MUST_CHECK enum error_code watch_step(struct watch *watch, bool *found, struct error *err);

#endif
