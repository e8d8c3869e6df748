/*
 * relation_check - finds, before a graph is partitioned, what would prevent the pipeline from
 * working on its types and relations.
 */
#ifndef STAGES_PLAN_MODEL_RELATION_CHECK_H
#define STAGES_PLAN_MODEL_RELATION_CHECK_H

#include "common/base/error.h"
#include "stages/plan/settings/pipeline_settings.h"
#include "store/records/dataset/dataset_schema.h"

/* Checks the settings against the graph. Fails: ERROR_INPUT naming a node type that has neither
 * features nor learnable embeddings; ERROR_INVALID for fan-outs of a relation that the graph does
 * not have, and for a sampler or a model that does not suit its types and relations. */
MUST_CHECK enum error_code relation_check(const struct pipeline_settings *settings,
                                          const struct dataset_schema *schema, struct error *err);

#endif
