/*
 * dataset_delta_graphs - the sections of the delta of a dataset of many graphs (dataset_delta.h).
 *
 * Only dataset_delta.c uses it.
 */
#ifndef STORE_RECORDS_DATASET_DATASET_DELTA_GRAPHS_H
#define STORE_RECORDS_DATASET_DATASET_DELTA_GRAPHS_H

#include "common/base/error.h"
#include "store/records/dataset/dataset_delta.h"
#include "store/records/section_table.h"

/* Adds nothing to the delta of any other dataset. */
void delta_graphs_add(struct record *record, const struct dataset_delta *delta,
                      struct section_scratch *scratch);
/* Reads removed and added graphs, and the graphs of added nodes. `out` has its facts already.
 * Fails: ERROR_CORRUPT naming record, section, expected and found; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code delta_graphs_get(const struct record_view *view,
                                            struct dataset_delta *out, struct error *err);

#endif
