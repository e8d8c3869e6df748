/*
 * run_origin - whose weights a run of inference alone has (run_import.h): the setting infer.model.
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

struct run_origin { /* what infer.model says */
    int64_t version;
    char run_id[ID_SIZE];
};

bool run_is_imported(const struct pipeline_settings *settings);
/* Fails: ERROR_INVALID for another text. */
MUST_CHECK enum error_code run_origin_of(const struct pipeline_settings *settings,
                                         struct run_origin *out, struct error *err);
/* Sets infer.model. */
void run_import_name(struct pipeline_settings *settings, const struct weights_identity *identity,
                     const char *run_id);

/* Sets infer.nodes: how many, and the hash of which. */
void run_import_name_nodes(struct pipeline_settings *settings, const struct wanted_nodes *wanted);

#endif
