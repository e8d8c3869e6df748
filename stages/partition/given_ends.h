/*
 * given_ends - checks that the nodes that files list as candidates for an edge have the type of the
 * end that they replace.
 *
 *   ingest.test_negatives   0,140,0,107,133   an edge of relation 0, from author 0 to paper 140,
 *                                             and two papers
 *   infer.ranked_end        target            they replace the target, a paper: so this fits
 *
 * Settings of sample and infer say which end is replaced, and a dataset does not depend on them. So
 * ingest only checks that the nodes of a line all have the type of one of the ends. This check
 * comes before the graph is cut.
 */
#ifndef STAGES_PARTITION_GIVEN_ENDS_H
#define STAGES_PARTITION_GIVEN_ENDS_H

#include "common/base/error.h"
#include "stages/plan/settings/pipeline_settings.h"
#include "store/objects/store.h"
#include "store/records/dataset/dataset_schema.h"

/* Checks the nodes. A dataset without relations, or settings that use no given nodes, need no
 * check. Fails: ERROR_INPUT naming the edge and the setting; as edge_splits_get(). */
MUST_CHECK enum error_code given_ends_check(struct store *store,
                                            const struct pipeline_settings *settings,
                                            const struct dataset_schema *schema, struct error *err);

#endif
