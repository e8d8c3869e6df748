/*
 * dgl_csv_reader - the folder of a DGL CSVDataset of one graph (format: dgl_csv).
 *
 *   meta.yaml
 *     separator: ","                                                     optional
 *     node_data: [{file_name: users.csv, ntype: user}]                   node_id_field: optional, node_id
 *     edge_data: [{file_name: likes.csv, etype: [user, likes, item]}]    src_id_field, dst_id_field: optional, src_id and dst_id
 *   users.csv                          a header, then a line a node
 *     node_id                          any text; edges name nodes by it within their type
 *     label                            optional: a class, or several numbers "0,1,1"
 *     train_mask, val_mask, test_mask  optional: 0 and 1, or False and True
 *     feat                             optional: numbers "0.1,0.2,0.3"
 *   likes.csv                          a header, then a line an edge; a column called weight or time is read, too
 *
 * Other columns are not read. Outputs have the ids of the files; where several types have ids that are not 0, 1, 2, ... in the order
 * of lines, as type:id. Data sets of many graphs (graph_data, a column graph_id with several values) are refused.
 *
 * Format: DGL's "Loading data from CSV files".
 */
#ifndef STAGES_INGEST_FORMATS_DGL_CSV_READER_H
#define STAGES_INGEST_FORMATS_DGL_CSV_READER_H

#include "common/base/error.h"
#include "stages/ingest/build/dataset_builder.h"

/* Pushes everything of settings->ingest.path into `builder`, which the caller finishes.
 * Fails: ERROR_NOT_FOUND; ERROR_INPUT naming file and line, what was expected and found. */
MUST_CHECK enum error_code dgl_csv_reader_run(const struct pipeline_settings *settings,
                                              struct dataset_builder *builder, struct error *err);

#endif
