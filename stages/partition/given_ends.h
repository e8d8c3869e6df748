/*
 * given_ends - whether the nodes that files list for edges of relations are of the type of the end whose place they take.
 *
 *   ingest.test_negatives   0,140,0,107,133     an edge of relation 0, from author 0 to paper 140, and two papers
 *   infer.ranked_end        target              whose place they take: papers, so this goes together
 *
 * Which end that is say settings of sample and infer, of which a dataset does not depend. So ingest sees to it that the nodes of a
 * line are all of the type of one of the ends, and this is said before the graph is cut.
 */
#ifndef STAGES_PARTITION_GIVEN_ENDS_H
#define STAGES_PARTITION_GIVEN_ENDS_H

#include "common/base/error.h"
#include "stages/plan/pipeline_settings.h"
#include "store/objects/store.h"
#include "store/records/dataset_schema.h"

/* Of a dataset without relations, or settings that take no given nodes, there is nothing to check. Fails: ERROR_INPUT naming the
 * edge and the setting; as edge_splits_get(). */
MUST_CHECK enum error_code given_ends_check(struct store *store,
                                            const struct pipeline_settings *settings,
                                            const struct dataset_schema *schema, struct error *err);

#endif
