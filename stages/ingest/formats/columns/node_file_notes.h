/*
 * node_file_notes - notes what the columns of tables of nodes were read as, and what in these
 * tables looks like a slip.
 *
 *     people.csv: user is the id, taste the label, age and income features; name is not used
 */
#ifndef STAGES_INGEST_FORMATS_COLUMNS_NODE_FILE_NOTES_H
#define STAGES_INGEST_FORMATS_COLUMNS_NODE_FILE_NOTES_H

#include "common/base/error.h"
#include "stages/ingest/formats/columns/node_files.h"

/* Adds a note for each table, and a warning for each file most of whose ids are nodes without an
 * edge. Call it when all files are read. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code node_file_notes_add(const struct node_files *files,
                                               const struct named_nodes *nodes,
                                               struct dataset_builder *builder, struct error *err);
/* Checks several columns after the id, which are several labels a node and must therefore be
 * numbers. Fails: ERROR_INPUT for columns of words, with the line to add that names one of them. */
MUST_CHECK enum error_code node_file_notes_check_labels(const struct keyed_file *labels,
                                                        uint64_t count, struct error *err);

#endif
