/*
 * held_edge_files - files that lie beside any input: the edges of validation and test that are given (ingest.edge_split: given),
 * given negatives, and when nodes appear (node_time_file.h).
 *
 *   source,target      a line for each edge, in the ids of the input; comma, tab or blanks between them, plain or
 *   8412,17            gzip, a header line and comments (#, %) are passed over; what stands behind is not read
 *
 *   source,target,...  of ingest.train_negatives and its like: behind an edge (and its type, where edges have types) the
 *   8412,17,5,99,310   nodes that make pairs with it which are no edges, as many as a line has
 */
#ifndef STAGES_INGEST_FORMATS_HELD_EDGE_FILES_H
#define STAGES_INGEST_FORMATS_HELD_EDGE_FILES_H

#include "stages/ingest/build/dataset_builder.h"
#include "stages/ingest/build/named_nodes.h"

/* Pushes them, if the settings name any. `names` NULL: ids are the numbers of nodes.
 * Fails: ERROR_INPUT naming file and line for an id that no node has, and for a line without two ids; ERROR_NOT_FOUND. */
MUST_CHECK enum error_code held_edge_files_push(const struct pipeline_settings *settings,
                                                const struct named_nodes *names,
                                                struct dataset_builder *builder, struct error *err);

#endif
