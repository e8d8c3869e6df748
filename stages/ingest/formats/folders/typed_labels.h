/*
 * typed_labels - the labels of nodes of one type, a row each, put into a table of all nodes.
 */
#ifndef STAGES_INGEST_FORMATS_FOLDERS_TYPED_LABELS_H
#define STAGES_INGEST_FORMATS_FOLDERS_TYPED_LABELS_H

#include "common/base/error.h"
#include "stages/ingest/build/label_table.h"
#include "stages/ingest/formats/folders/typed_graph.h"

/* Reads rows->path into `table`. Row i belongs to node `node[i]` of the type; with `node` NULL to
 * node rows->first + i. The first rows show how many columns there are. Sets table->path to
 * rows->path. Fails: ERROR_INPUT naming file and row. */
MUST_CHECK enum error_code typed_labels_take(struct label_table *table,
                                             const struct typed_rows *rows,
                                             const struct node_type *type,
                                             const struct integer_column *node, struct error *err);

#endif
