/*
 * graphbolt_reader - the folder of a DGL GraphBolt OnDiskDataset (format: graphbolt), as it is before DGL preprocesses it.
 *
 *   metadata.yaml
 *     graph:
 *       nodes: [{num: 34}]                                   or, of several types, each with `type: user`
 *       edges: [{format: csv | numpy, path: edges.csv}]      csv without a header, or [2, edges]; from source to target; with types each
 *                                                            has `type: "user:likes:item"`, and nodes are numbered within theirs
 *     feature_data:
 *       - {domain: node, name: feat, format: numpy, path: feat.npy}
 *     tasks:                                                 the first whose seeds are nodes
 *       - num_classes: 2
 *         train_set: [{data: [{name: seeds, format: numpy, path: ...}, {name: labels, format: numpy, path: ...}]}]
 *         validation_set: ...
 *         test_set: ...
 *
 * Labels of nodes outside of the three sets are not known to it. Names that GraphBolt had before 0.1 (seed_nodes) are read, too.
 * What it may have and is not read is refused by name and line: files of torch, seeds that are pairs.
 * Features of nodes that have another name than feat, and those of edges, are left out.
 *
 * Format: DGL's "OnDiskDataset specification".
 */
#ifndef STAGES_INGEST_FORMATS_GRAPHBOLT_READER_H
#define STAGES_INGEST_FORMATS_GRAPHBOLT_READER_H

#include "common/base/error.h"
#include "stages/ingest/build/dataset_builder.h"

/* Pushes everything of settings->ingest.path into `builder`, which the caller finishes.
 * Fails: ERROR_NOT_FOUND; ERROR_INPUT naming file and line, what was expected and found. */
MUST_CHECK enum error_code graphbolt_reader_run(const struct pipeline_settings *settings,
                                                struct dataset_builder *builder, struct error *err);

#endif
