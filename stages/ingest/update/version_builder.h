/*
 * version_builder - the records of a version of a dataset that is written whole, from those of its base and a delta.
 *
 *   base: edges, rows, labels, splits, ids ─┐
 *   delta (records/dataset_delta.h) ────────┴─> dataset_builder ─> dataset/<id>/...
 *
 * It is what ingest makes of the whole graph, read from nothing with the nodes and edges in this order: those of the base that stay,
 * then those that are added. Chunks of edges, labels, splits and ids have the same bytes. So have features; where they
 * are scaled (normalise_rows, standardise), a version keeps the measure of its root, as a model that was trained on it needs,
 * where ingest would measure anew.
 */
#ifndef STAGES_INGEST_UPDATE_VERSION_BUILDER_H
#define STAGES_INGEST_UPDATE_VERSION_BUILDER_H

#include "common/base/error.h"
#include "stages/plan/pipeline_settings.h"
#include "store/objects/store.h"
#include "store/records/dataset_delta.h"
#include "store/records/dataset_schema.h"

#include <stdint.h>

/* `settings`: those that the root was made with. The schema is stored last. Replaces nothing that is there.
 * Fails: ERROR_INPUT where ingest.duplicates or ingest.self_loops refuse what is added; ERROR_CORRUPT; ERROR_NO_MEMORY, ERROR_IO. */
MUST_CHECK enum error_code version_builder_run(struct store *store,
                                               const struct pipeline_settings *settings,
                                               const char *dataset_id,
                                               const struct dataset_delta *delta,
                                               uint64_t memory_bytes, struct error *err);

#endif
