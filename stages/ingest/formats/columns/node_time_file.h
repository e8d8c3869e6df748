/*
 * node_time_file - when nodes appear, in a file beside any input (ingest.node_times).
 *
 *   id,time        a line a node, in the ids of the input; comma, tab or blanks between them, plain
 *   8412,2014      or gzip; a header line and comments (#, %) are passed over
 *
 * Times are read by ingest.time_format, in the unit of the edge times. A node without a line was
 * always there.
 */
#ifndef STAGES_INGEST_FORMATS_COLUMNS_NODE_TIME_FILE_H
#define STAGES_INGEST_FORMATS_COLUMNS_NODE_TIME_FILE_H

#include "stages/ingest/build/dataset_builder.h"
#include "stages/ingest/build/nodes/named_nodes.h"

/* Pushes the times, if the settings name a file. `names` NULL: ids are the numbers of nodes.
 * Fails: ERROR_INPUT naming file and line for an id that no node has, for what is no time, and for
 * a second line of a node; ERROR_NOT_FOUND. */
MUST_CHECK enum error_code node_time_file_push(const struct pipeline_settings *settings,
                                               const struct named_nodes *names,
                                               struct dataset_builder *builder, struct error *err);

#endif
