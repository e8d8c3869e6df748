/*
 * merged_version - a version of a dataset that is stored as what is other in it.
 *
 *   base (whole) <── delta <── delta = version ──> dataset/<id>/merge, dataset/<id>/schema
 *
 * Beside the delta, which says all that changes, that is two small records: so an update writes as much as it changes. What the version's
 * other records would hold is made by whoever reads them (store/versions/merged_records.h), and is to the byte what version_builder.h writes.
 *
 * One pass over the base's edges counts those of the version (their number, self loops, nodes without any) and finds where its chunks
 * begin; another over labels and splits counts these. Both read alone. Rows of features are not read: of the share of zeros that the report
 * has, that of the base's rows is taken as it was.
 */
#ifndef STAGES_INGEST_UPDATE_MERGED_VERSION_H
#define STAGES_INGEST_UPDATE_MERGED_VERSION_H

#include "common/base/error.h"
#include "stages/plan/pipeline_settings.h"
#include "store/objects/store.h"
#include "store/records/dataset_delta.h"

#include <stdbool.h>

/* Deltas between a version and what it is merged from, at most: each is a record to be read. */
enum { MERGED_DEPTH_MAX = 256 };

/* Stores the version unless it should be whole: *is_merged. It should when its deltas come to more than partition.compact of the bytes of
 * its dataset, when there are more than MERGED_DEPTH_MAX of them, or when ingest makes the features, which may be other for each node. A
 * version that is merged already stays so. `delta` is stored. Fails: ERROR_INPUT where ingest.duplicates refuses an edge that is added;
 * ERROR_CORRUPT; ERROR_NO_MEMORY, ERROR_IO. */
MUST_CHECK enum error_code merged_version_put(struct store *store,
                                              const struct pipeline_settings *settings,
                                              const char *dataset_id,
                                              const struct dataset_delta *delta, bool *is_merged,
                                              struct error *err);

#endif
