/*
 * warm_start - train-step.initial: turns the path of a model, as people write it, into the weights
 * that a run begins with.
 *
 *   a run of this folder │ a run folder │ model.safetensors
 *       ─> model_source ─> "<version> <hash> <run>" in the settings
 *   ingest ─> [ does it fit? ] ─> partition ─> run/<id>/initial (stages/plan/run/run_initial.h)
 *       ─> the run starts
 */
#ifndef PIPELINES_SHARED_WARM_START_H
#define PIPELINES_SHARED_WARM_START_H

#include "common/base/error.h"
#include "stages/plan/settings/pipeline_settings.h"
#include "store/objects/store.h"

struct warm_start;

/* Reads the model that settings->train_step.initial names, if it names one, and replaces the name
 * there by the identity of the weights. A path is relative to the folder of pipeline_file, or to
 * the working directory without one. Ids of runs are looked up in run_folder. It takes the best
 * weights by validation.
 * Owns:  *out, NULL when there is no model or on failure; close with warm_start_close().
 * Fails: ERROR_NOT_FOUND; as model_source_open(). */
MUST_CHECK enum error_code warm_start_open(struct pipeline_settings *settings,
                                           const char *pipeline_file, const char *run_folder,
                                           struct warm_start **out, struct error *err);
/* Checks that the model fits the dataset that ingest made, and the model of the settings. NULL
 * always fits. Fails: ERROR_INPUT with what differs. */
MUST_CHECK enum error_code warm_start_check(const struct warm_start *warm,
                                            const struct pipeline_settings *settings,
                                            struct store *store, struct error *err);
/* Stores its weights where the run of the settings finds them. Fails: as run_initial_put(). */
MUST_CHECK enum error_code warm_start_put(const struct warm_start *warm,
                                          const struct pipeline_settings *settings,
                                          struct store *store, struct error *err);
void warm_start_close(struct warm_start *warm);

#endif
