/*
 * folder_reader - a graph as a folder of plain files (format: folder).
 *
 *   (.csv.zst may replace .csv.gz everywhere)
 *   meta.json                                 num_nodes, directed; see folder_meta.h
 *   edges.csv | edges.csv.gz | edges.npy      see folder_edges.h
 *   node-ids.csv | .csv.gz                    optional: line i is the id of node i, any text; edges
 *                                             and splits name nodes by these ids, the other files
 *                                             have a row for each node in this order
 *   node-feat.npy | feat_indptr.npy, feat_indices.npy, feat_values.npy     optional; feature_file.h
 *   node-label.csv | .csv.gz | .npy           optional; label_reader.h
 *   train, valid, test .csv | .csv.gz | .npy  optional; node ids
 *   node-types.csv, edge-types.csv            heterogeneous; features are then <type>-feat..., row
 *                                             i is node first_id + i, and nodes of other types get
 *                                             zeros, or, with ingest.relations, none: widths then
 *                                             differ by type
 *   relations.csv                             with ingest.relations: names of the edge types of one
 *                                             node type
 *
 * Two files for one thing (edges.csv and edges.npy) are refused, because one of them would be
 * ignored.
 */
#ifndef STAGES_INGEST_FORMATS_FOLDERS_FOLDER_READER_H
#define STAGES_INGEST_FORMATS_FOLDERS_FOLDER_READER_H

#include "common/base/error.h"
#include "stages/ingest/build/dataset_builder.h"

/* Reads one split file and pushes the split. Several formats use it. */
MUST_CHECK enum error_code folder_reader_split(const char *path, enum split split,
                                               uint64_t node_count, struct dataset_builder *builder,
                                               struct error *err);

#endif
