/*
 * run_origin - the weights that a run uses or begins with: infer.model, for a run of inference
 * alone (run_import.h), and train-step.initial, for a run that trains further (run_initial.h).
 *
 * People write the place of a model there. A run has "<version> <hash> <run>" instead, so that its
 * id depends on the weights and not on a place.
 */
#ifndef STAGES_PLAN_MODEL_RUN_ORIGIN_H
#define STAGES_PLAN_MODEL_RUN_ORIGIN_H

#include "common/base/error.h"
#include "stages/plan/settings/pipeline_settings.h"
#include "store/objects/keys.h"
#include "store/records/dataset/wanted_nodes.h"
#include "store/records/round/weights_identity.h"

#include <stdbool.h>
#include <stdint.h>

struct run_origin { /* parsed from such a setting */
    int64_t version;
    char sum[CHECKSUM_TEXT_SIZE]; /* hash of the weights */
    char run_id[ID_SIZE];
};

bool run_is_imported(const struct pipeline_settings *settings);
/* Parses infer.model. Fails: ERROR_INVALID for any other text. */
MUST_CHECK enum error_code run_origin_of(const struct pipeline_settings *settings,
                                         struct run_origin *out, struct error *err);
/* Sets infer.model. */
void run_import_name(struct pipeline_settings *settings, const struct weights_identity *identity,
                     const char *run_id);

/* The next three do the same for train-step.initial. */
bool run_is_warm(const struct pipeline_settings *settings);
MUST_CHECK enum error_code run_initial_of(const struct pipeline_settings *settings,
                                          struct run_origin *out, struct error *err);
void run_initial_name(struct pipeline_settings *settings, const struct weights_identity *identity,
                      const char *run_id);

/* Sets infer.nodes to the number of wanted nodes and their hash. */
void run_import_name_nodes(struct pipeline_settings *settings, const struct wanted_nodes *wanted);

#endif
