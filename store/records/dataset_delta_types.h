/*
 * dataset_delta_types - the sections of a delta that tell types of nodes and relations apart (dataset_delta.h has what they are).
 *
 * For dataset_delta.c alone.
 */
#ifndef STORE_RECORDS_DATASET_DELTA_TYPES_H
#define STORE_RECORDS_DATASET_DELTA_TYPES_H

#include "common/base/error.h"
#include "store/records/dataset_delta.h"
#include "store/records/section_table.h"

void delta_types_add(struct record *record, const struct dataset_delta *delta,
                     struct section_scratch *scratch);
/* Node types, once out has its facts. All fail with ERROR_CORRUPT naming record, section, expected and found. */
MUST_CHECK enum error_code delta_types_get(const struct record_view *view,
                                           struct dataset_delta *out, struct error *err);
/* The relations of edges that go, once their ends are there. */
MUST_CHECK enum error_code delta_types_get_gone(const struct record_view *view,
                                                struct dataset_delta *out, struct error *err);
/* Whether added edges say theirs. */
MUST_CHECK enum error_code delta_types_check_edges(const struct record_view *view,
                                                   const struct dataset_delta *out,
                                                   struct error *err);

#endif
