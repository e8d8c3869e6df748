/*
 * dataset_delta_types - the sections of a delta for several types of nodes and for relations
 * (dataset_delta.h).
 *
 * Only dataset_delta.c uses it.
 */
#ifndef STORE_RECORDS_DATASET_DATASET_DELTA_TYPES_H
#define STORE_RECORDS_DATASET_DATASET_DELTA_TYPES_H

#include "common/base/error.h"
#include "store/records/dataset/dataset_delta.h"
#include "store/records/section_table.h"

void delta_types_add(struct record *record, const struct dataset_delta *delta,
                     struct section_scratch *scratch);
/* Reads the node types. `out` has its facts already. All functions here fail with ERROR_CORRUPT
 * naming record, section, expected and found. */
MUST_CHECK enum error_code delta_types_get(const struct record_view *view,
                                           struct dataset_delta *out, struct error *err);
/* Reads the relations of removed edges, whose ends were read before. */
MUST_CHECK enum error_code delta_types_get_gone(const struct record_view *view,
                                                struct dataset_delta *out, struct error *err);
/* Checks that added edges have a relation if there are several. */
MUST_CHECK enum error_code delta_types_check_edges(const struct record_view *view,
                                                   const struct dataset_delta *out,
                                                   struct error *err);

#endif
