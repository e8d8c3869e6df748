/*
 * watch_step - processes one update of the inbox: applies it, evaluates it, trains on it if a
 * trigger fires, and moves it to its final place.
 *
 *   watch.json: name, base ─> graphmill-ingest --base ─> retrain_trigger
 *       no:   the model stays
 *       yes:  a warm run aside, and the old model on the new version aside; the better of the two
 *             by the validation metric is kept
 *   watch.json: the model and the texts ─> it becomes the newest run of the folder ─> done/NAME
 *
 * Each step makes a run or a version that is found again by its id, and no decision is made twice.
 * After a kill at any moment, the next start completes the update with the same versions, models
 * and texts; only the seconds that it took differ.
 */
#ifndef PIPELINES_WATCH_WATCH_STEP_H
#define PIPELINES_WATCH_WATCH_STEP_H

#include "common/base/error.h"
#include "common/base/options.h"
#include "pipelines/run/local_run.h"
#include "pipelines/watch/watch_inbox.h"

struct watch { /* {0} is closed; too large for a stack */
    struct pipeline_options options;
    struct option_list warm; /* settings for warm runs only */
    struct watch_inbox inbox;
    struct local_run local; /* open while an update is processed */
    int refused;            /* number of updates since the start */
};

/* Makes sure that there is a model for updates to start from: the newest run of the folder if it is
 * finished and its dataset is a version of this one, otherwise the run of the pipeline file, which
 * it completes. Fails: as graphmill run does. */
MUST_CHECK enum error_code watch_have_model(struct watch *watch, struct error *err);
/* Processes the next update, if there is one (*found), and prints the result on stdout. An update
 * that does not fit is moved to refused/. Fails: as the programs do; ERROR_UNAVAILABLE when asked
 * to stop, and then nothing is lost. */
MUST_CHECK enum error_code watch_step(struct watch *watch, bool *found, struct error *err);

#endif
