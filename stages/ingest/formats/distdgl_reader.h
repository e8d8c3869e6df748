/*
 * distdgl_reader - a graph in the chunks that DistDGL's partitioning pipeline takes (format: distdgl).
 *
 *   metadata.json
 *     node_type            ["user", "item"]                names, which lie one behind the other
 *     num_nodes_per_chunk  [[3, 2], [4]]                   of each type, nodes of each chunk; or num_nodes_per_type [5, 4]
 *     edge_type            ["user:likes:item"]
 *     num_edges_per_chunk  [[7, 8]]                        checked, where it is there
 *     edges                {"user:likes:item": {"format": {"name": "csv", "delimiter": " "}, "data": ["edges/0.txt", ...]}}
 *     node_data            {"user": {"feat": {"format": {"name": "numpy"}, "data": ["feat-0.npy", ...]}, "label": ...,
 *                          "train_mask": ..., "val_mask": ..., "test_mask": ...}}
 *
 * Edges are numbered within the types of their ends. Paths are below the folder, or absolute. Formats are csv (without a header) and
 * numpy; parquet is refused by name. Data of edges, and other data of nodes, are not read.
 *
 * Format: DGL's "Distributed graph partitioning pipeline" (tools/distpartitioning, chunk_graph.py).
 */
#ifndef STAGES_INGEST_FORMATS_DISTDGL_READER_H
#define STAGES_INGEST_FORMATS_DISTDGL_READER_H

#include "common/base/error.h"
#include "stages/ingest/build/dataset_builder.h"

/* Pushes everything of settings->ingest.path into `builder`, which the caller finishes.
 * Fails: ERROR_NOT_FOUND; ERROR_INPUT naming file, key or line, what was expected and found. */
MUST_CHECK enum error_code distdgl_reader_run(const struct pipeline_settings *settings,
                                              struct dataset_builder *builder, struct error *err);

#endif
