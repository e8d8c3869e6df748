/*
 * held_edge_files - reads the files that can lie beside any input: the edges of validation and test
 * (ingest.edge_split: given), given negatives, and the times of nodes (node_time_file.h).
 *
 *   source,target      a line for each edge, in the ids of the input; comma, tab or blanks between
 *   8412,17            them, plain or gzip; a header line and comments (#, %) are skipped; further
 *                      columns are not read
 *
 *   source,target,...  ingest.train_negatives and its like: after an edge (and its type, if edges
 *   8412,17,5,99,310   have types) come the nodes that form negatives with it, any number in a line
 */
#ifndef STAGES_INGEST_FORMATS_COLUMNS_HELD_EDGE_FILES_H
#define STAGES_INGEST_FORMATS_COLUMNS_HELD_EDGE_FILES_H

#include "stages/ingest/build/dataset_builder.h"
#include "stages/ingest/build/nodes/named_nodes.h"

/* Pushes the edges and negatives, if the settings name such files. `names` NULL: ids are the
 * numbers of nodes. Fails: ERROR_INPUT naming file and line for an id that no node has, and for a
 * line without two ids; ERROR_NOT_FOUND. */
MUST_CHECK enum error_code held_edge_files_push(const struct pipeline_settings *settings,
                                                const struct named_nodes *names,
                                                struct dataset_builder *builder, struct error *err);

#endif
