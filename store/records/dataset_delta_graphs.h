/*
 * dataset_delta_graphs - the sections of a delta of a dataset of many graphs (dataset_delta.h has what they are).
 *
 * For dataset_delta.c alone.
 */
#ifndef STORE_RECORDS_DATASET_DELTA_GRAPHS_H
#define STORE_RECORDS_DATASET_DELTA_GRAPHS_H

#include "common/base/error.h"
#include "store/records/dataset_delta.h"
#include "store/records/section_table.h"

/* Adds nothing to the delta of any other dataset. */
void delta_graphs_add(struct record *record, const struct dataset_delta *delta,
                      struct section_scratch *scratch);
/* Graphs that go and come and of which added nodes are, once out has its facts. Fails: ERROR_CORRUPT naming record, section, expected and
 * found; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code delta_graphs_get(const struct record_view *view,
                                            struct dataset_delta *out, struct error *err);

#endif
