/*
 * relation_check - says what stands in the way of a pipeline over the types and relations of a
 * graph before it is partitioned.
 */
#ifndef STAGES_PLAN_RELATION_CHECK_H
#define STAGES_PLAN_RELATION_CHECK_H

#include "common/base/error.h"
#include "stages/plan/pipeline_settings.h"
#include "store/records/dataset_schema.h"

/* Fails: ERROR_INPUT naming a node type that has no features, where no embeddings are learnt either;
 * ERROR_INVALID for fan-outs of a relation that the graph does not have, for parameters of the
 * sampler that do not suit the relations, and for a model that cannot be. */
MUST_CHECK enum error_code relation_check(const struct pipeline_settings *settings,
                                          const struct dataset_schema *schema, struct error *err);

#endif
