/*
 * edge_list_reader - one file of edges with the user's own node ids (format: edge_list).
 *
 *   # a comment, or with %                    comma, tab, or runs of blanks between columns
 *   source  target  [weight  [time]]          a header line is optional; plain or gzip
 *   8412    -17     0.5      1289241911.7     ids: any signed 64-bit integers, or any strings
 *
 * With a header, the names say what columns are. Without one, a third column of numbers is the
 * weight and a fourth the time. Further columns of numbers are edge features if `edge_features`
 * allows it; other columns are not read. The first lines also show whether ids are integers or
 * strings (id_type: auto); a later line that does not fit is an error, and the message names both
 * lines. SNAP's comments "# Undirected graph" and "# Directed graph" count as a statement about the
 * direction.
 *
 * The file is read once: the ids are noted and then numbered (node_id_assigner.h), and the edges
 * wait in a spool (piece_spool.h) until they are numbered. The files of labels and features
 * (node_files.h), which may name nodes without edges, are read twice.
 */
#ifndef STAGES_INGEST_FORMATS_FILES_EDGE_LIST_READER_H
#define STAGES_INGEST_FORMATS_FILES_EDGE_LIST_READER_H

#include "common/base/error.h"
#include "stages/ingest/build/dataset_builder.h"
#include "stages/ingest/formats/columns/node_files.h"
#include "stages/plan/settings/pipeline_settings.h"

#include <stddef.h>
#include <stdint.h>

/* A file, or its bytes in memory. If `data` is NULL, `name` is a path, or a pattern
 * (common/files/file_pattern.h); either all files of a pattern have the header of the first or none
 * has one. */
struct edge_list_input {
    const char *name;
    const void *data;
    size_t size;
    struct node_files *nodes; /* labels, features and splits beside it, or NULL */
    enum edge_feature_choice edge_features;
    /* has the files of held-out edges; NULL: there are none */
    const struct pipeline_settings *settings;
};

/* Pushes nodes, edges, ids and the content of node files into `builder`, which the caller finishes.
 * Fails: ERROR_INPUT naming file and line; ERROR_NOT_FOUND; ERROR_NO_MEMORY when the ids do not fit
 * half of `memory_bytes` (0: no budget). */
MUST_CHECK enum error_code edge_list_reader_run(const struct edge_list_input *input,
                                                enum id_type id_type, uint64_t memory_bytes,
                                                struct dataset_builder *builder, struct error *err);

#endif
