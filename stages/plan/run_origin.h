/*
 * run_origin - whose weights a run has or begins with: infer.model, of a run of inference alone (run_import.h), and
 * train-step.initial, of one that is trained further (run_initial.h).
 *
 * What people write there is the place of a model; a run has "<version> <hash> <run>", so that its id depends on the weights
 * and on no place.
 */
#ifndef STAGES_PLAN_RUN_ORIGIN_H
#define STAGES_PLAN_RUN_ORIGIN_H

#include "common/base/error.h"
#include "stages/plan/pipeline_settings.h"
#include "store/objects/keys.h"
#include "store/records/wanted_nodes.h"
#include "store/records/weights_identity.h"

#include <stdbool.h>
#include <stdint.h>

struct run_origin { /* what such a setting says */
    int64_t version;
    char sum[CHECKSUM_TEXT_SIZE]; /* of the weights */
    char run_id[ID_SIZE];
};

bool run_is_imported(const struct pipeline_settings *settings);
/* Fails: ERROR_INVALID for another text. */
MUST_CHECK enum error_code run_origin_of(const struct pipeline_settings *settings,
                                         struct run_origin *out, struct error *err);
/* Sets infer.model. */
void run_import_name(struct pipeline_settings *settings, const struct weights_identity *identity,
                     const char *run_id);

/* The same of train-step.initial. */
bool run_is_warm(const struct pipeline_settings *settings);
MUST_CHECK enum error_code run_initial_of(const struct pipeline_settings *settings,
                                          struct run_origin *out, struct error *err);
void run_initial_name(struct pipeline_settings *settings, const struct weights_identity *identity,
                      const char *run_id);

/* Sets infer.nodes: how many, and the hash of which. */
void run_import_name_nodes(struct pipeline_settings *settings, const struct wanted_nodes *wanted);

#endif
