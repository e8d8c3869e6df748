/*
 * folder_edges - the edges of a plain folder or an OGB folder, whose ids are 0 .. N-1.
 *
 *   edges.csv[.gz]  header src,dst[,weight][,etype][,time], then a row an edge
 *   edges.npy       integers [2, E]: sources, then targets; or [E, 2]: a row an edge
 *   edge.csv[.gz]   OGB's: two columns and no header
 *
 * If the ends are numbered within their node types, or within each of many graphs, edge_ends.h
 * turns them into node numbers.
 */
#ifndef STAGES_INGEST_FORMATS_FOLDERS_FOLDER_EDGES_H
#define STAGES_INGEST_FORMATS_FOLDERS_FOLDER_EDGES_H

#include "common/base/error.h"
#include "stages/ingest/build/dataset_builder.h"
#include "stages/ingest/build/nodes/named_nodes.h"
#include "stages/ingest/formats/columns/edge_files.h"
#include "stages/ingest/formats/folders/folder_meta.h"
#include "stages/ingest/formats/shared/edge_ends.h"

#include <stdbool.h>
#include <stdint.h>

/* Pushes all edges of the file `path`; *row_count is their number. With `names` (may be NULL) ids
 * are looked up there; otherwise ids are the numbers of nodes. `files` have further columns (NULL:
 * none). `meta` belongs to a file with a header (NULL: no header); if it has edge types, each edge
 * must connect the node types of its edge type. `ends` is NULL if ids are those of nodes. Fails:
 * ERROR_INPUT naming file and line, what was expected and found. */
MUST_CHECK enum error_code folder_edges_read_csv(const char *path, const struct folder_meta *meta,
                                                 const struct named_nodes *names,
                                                 const struct edge_files *files,
                                                 struct edge_ends *ends,
                                                 struct dataset_builder *builder,
                                                 uint64_t *row_count, struct error *err);
MUST_CHECK enum error_code folder_edges_read_npy(const char *path, const struct edge_files *files,
                                                 struct edge_ends *ends,
                                                 struct dataset_builder *builder,
                                                 uint64_t *row_count, struct error *err);
/* Sets *type_count to the highest edge type of a CSV file with a header plus one, or to 0 without
 * such a column. `label` as in folder_meta.h. */
MUST_CHECK enum error_code folder_edges_count_types(const char *path, const char *label,
                                                    uint32_t *type_count, struct error *err);

#endif
