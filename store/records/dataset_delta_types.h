/*
 * dataset_delta_types - the sections of a delta that tell types of nodes and relations apart (dataset_delta.h has what they are).
 *
 * For dataset_delta.c alone.
 */
#ifndef STORE_RECORDS_DATASET_DELTA_TYPES_H
#define STORE_RECORDS_DATASET_DELTA_TYPES_H

#include "common/base/error.h"
#include "store/records/dataset_delta.h"
#include "store/records/dataset_schema.h"

/* The section "node_types" of delta->type_count, which has to live as long as the record. */
enum { DELTA_TYPES_SIZE = 3 * NODE_TYPE_COUNT_MAX };
void delta_types_fill(const struct dataset_delta *delta, uint32_t types[DELTA_TYPES_SIZE]);
void delta_types_add(struct record *record, const struct dataset_delta *delta,
                     const uint32_t types[DELTA_TYPES_SIZE]);
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
