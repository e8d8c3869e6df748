/*
 * dgl_csv_nodes - a file of nodes of a DGL CSVDataset. The first pass reads the ids, the second
 * features, labels and splits.
 */
#ifndef STAGES_INGEST_FORMATS_FOLDERS_DGL_CSV_NODES_H
#define STAGES_INGEST_FORMATS_FOLDERS_DGL_CSV_NODES_H

#include "common/base/error.h"
#include "stages/ingest/build/label_table.h"
#include "stages/ingest/build/nodes/named_nodes.h"
#include "stages/ingest/formats/folders/dgl_csv_meta.h"
#include "stages/ingest/formats/folders/typed_graph.h"

#include <stdbool.h>
#include <stdint.h>

struct dgl_csv_nodes {               /* the nodes of one type; {0} is releasable */
    const struct dgl_csv_file *file; /* borrowed */
    enum delimiter delimiter;
    struct named_nodes names;
    bool is_numbered; /* line i has the id i */
    uint32_t dim;     /* width of the features; 0: none */
};

/* Reads the ids and the width of the features. Fails: ERROR_INPUT naming file and line: an id
 * twice, a header without ids, several graphs. */
MUST_CHECK enum error_code dgl_csv_nodes_read_ids(struct dgl_csv_nodes *nodes, struct error *err);
/* Pushes the features and takes labels and splits into `graph`, which is declared. */
MUST_CHECK enum error_code dgl_csv_nodes_push(const struct dgl_csv_nodes *nodes, uint32_t type,
                                              struct typed_graph *graph,
                                              struct dataset_builder *builder, struct error *err);
void dgl_csv_nodes_release(struct dgl_csv_nodes *nodes);

#endif
