/*
 * numbered_nodes - the nodes of formats that number them from 1: "1" is the first.
 *
 * Files beside the input (node_files.h) and outputs use these numbers, too.
 */
#ifndef STAGES_INGEST_FORMATS_COLUMNS_NUMBERED_NODES_H
#define STAGES_INGEST_FORMATS_COLUMNS_NUMBERED_NODES_H

#include "common/base/error.h"
#include "stages/ingest/build/dataset_builder.h"
#include "stages/ingest/build/nodes/named_nodes.h"

#include <stdint.h>

/* Notes the ids 1 .. node_count, and declares the nodes and their ids to `builder`. The caller
 * releases `nodes`. Fails: ERROR_INPUT naming `where`; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code numbered_nodes_begin(struct named_nodes *nodes, uint64_t node_count,
                                                enum stated_direction stated, const char *where,
                                                uint64_t memory_bytes,
                                                struct dataset_builder *builder, struct error *err);
/* Pushes the files beside the input: labels, features, splits, held-out edges. */
MUST_CHECK enum error_code numbered_nodes_push_files(const struct named_nodes *nodes,
                                                     const struct pipeline_settings *settings,
                                                     struct dataset_builder *builder,
                                                     struct error *err);

#endif
