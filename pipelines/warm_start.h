/*
 * warm_start - train-step.initial, from the place of a model that people write to the weights that a run begins with.
 *
 *   a run of this folder │ a run folder │ model.safetensors ─> model_source ─> "<version> <hash> <run>" in the settings
 *   ingest ─> [ does it fit? ] ─> partition ─> run/<id>/initial (stages/plan/run_initial.h) ─> the run starts
 */
#ifndef PIPELINES_WARM_START_H
#define PIPELINES_WARM_START_H

#include "common/base/error.h"
#include "stages/plan/pipeline_settings.h"
#include "store/objects/store.h"

struct warm_start;

/* Reads the model that settings->train_step.initial names, if it names one, and writes there which weights it has. A path is relative to the
 * folder of pipeline_file, or else to the working directory; run_folder: where runs are looked for by id. The best weights
 * by validation are taken.
 * Owns:  *out, NULL when there is nothing to read, or it fails; warm_start_close().
 * Fails: ERROR_NOT_FOUND; as model_source_open(). */
MUST_CHECK enum error_code warm_start_open(struct pipeline_settings *settings,
                                           const char *pipeline_file, const char *run_folder,
                                           struct warm_start **out, struct error *err);
/* Compares it with the dataset that ingest made, and with the model of the settings. NULL always fits.
 * Fails: ERROR_INPUT with what differs. */
MUST_CHECK enum error_code warm_start_check(const struct warm_start *warm,
                                            const struct pipeline_settings *settings,
                                            struct store *store, struct error *err);
/* Puts its weights where the run of the settings finds them. Fails: as run_initial_put(). */
MUST_CHECK enum error_code warm_start_put(const struct warm_start *warm,
                                          const struct pipeline_settings *settings,
                                          struct store *store, struct error *err);
void warm_start_close(struct warm_start *warm);

#endif
