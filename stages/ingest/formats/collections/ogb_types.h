/*
 * ogb_types - an OGB data set of several node types (ogbn-mag, ogbl-biokg), as text or as arrays.
 *
 *   raw/num-node-dict.csv.gz                        a line of types, a line with their node counts
 *   raw/triplet-type-list.csv.gz                    source type, name, target type: a line a
 *                                                   relation
 *   raw/relations/<s>___<name>___<t>/edge.csv.gz    the edges of a relation, and
 *                                                   num-edge-list.csv.gz beside them
 *   raw/node-feat/<type>/node-feat.csv.gz           optional
 *   raw/node-label/<type>/node-label.csv.gz         optional
 *   split/<name>/<type>/{train,valid,test}.csv.gz   optional
 *
 *   In binary form instead: raw/num_nodes_dict.npz, raw/edge_index_dict.npz, with arrays called
 *   <type> and <s>___<name>___<t>; node_feat.npz and node-label.npz, with arrays called <type>
 *
 * Format: read_csv_heterograph_raw and read_binary_heterograph_raw of ogb/io/read_graph_raw.py.
 */
#ifndef STAGES_INGEST_FORMATS_COLLECTIONS_OGB_TYPES_H
#define STAGES_INGEST_FORMATS_COLLECTIONS_OGB_TYPES_H

#include "common/base/error.h"
#include "stages/ingest/build/dataset_builder.h"

#include <stdbool.h>

/* Sets *found to whether the folder has node types. */
MUST_CHECK enum error_code ogb_types_are_there(const char *raw, bool *found, struct error *err);
/* Pushes the whole input at settings->ingest.path, whose folder of raw files is `raw`. Fails:
 * ERROR_NOT_FOUND; ERROR_INPUT naming file and line or array, what was expected and found. */
MUST_CHECK enum error_code ogb_types_run(const struct pipeline_settings *settings, const char *raw,
                                         struct dataset_builder *builder, struct error *err);

#endif
