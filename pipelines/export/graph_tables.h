/*
 * graph_tables - the graph of a partition as files: its edges part by part, and what is known of its nodes, all numbered as in the
 * input, within their types.
 *
 * Edges are those of the topologies: each as often and in the direction that a model sees it (an undirected one both ways), in the part
 * of the node that it ends in. Of a task of pairs held-out ones are not among them.
 */
#ifndef PIPELINES_EXPORT_GRAPH_TABLES_H
#define PIPELINES_EXPORT_GRAPH_TABLES_H

#include "common/base/file.h"
#include "pipelines/export/export_ids.h"
#include "pipelines/run_folder.h"
#include "store/records/node_labels.h"
#include "store/records/node_permutation.h"
#include "store/records/node_splits.h"
#include "store/topology/topology.h"

#include <stdbool.h>
#include <stdint.h>

struct graph_tables { /* {0} is closed */
    const struct run_folder *folder;
    struct node_permutation permutation;
    struct topology topology;
    struct export_ids ids;
    struct node_labels labels; /* of all nodes; {0}: of another task */
    struct node_splits splits; /* of all nodes */
    uint32_t type_count, relation_count;
    uint32_t *type_first;      /* [type_count + 1]: their nodes in the input */
    char path[FILE_PATH_SIZE]; /* of the folder, under another name until it is whole */
    const char *output;
};

/* The folder, which must not be there yet. Fails: ERROR_INVALID when it is, for a dataset of many graphs, and for names that
 * cannot stand in a path; ERROR_IO. */
MUST_CHECK enum error_code graph_tables_open(struct graph_tables *tables,
                                             const struct run_folder *folder, const char *output,
                                             struct error *err);
/* Gives the folder its name. */
MUST_CHECK enum error_code graph_tables_finish(struct graph_tables *tables, struct error *err);
void graph_tables_close(struct graph_tables *tables); /* removes a folder that was not finished */

/* Names; of a graph without relations those that DGL has for it. */
const char *graph_tables_type(const struct graph_tables *tables, uint32_t type);
uint32_t graph_tables_type_size(const struct graph_tables *tables, uint32_t type);
/* "source:name:target" */
void graph_tables_relation(const struct graph_tables *tables, uint32_t relation,
                           char out[FILE_PATH_SIZE]);
uint64_t graph_tables_edges(const struct graph_tables *tables, uint32_t relation, int part);

/* --- files below the folder; `name` is relative to it --- */

/* Lines "source target" of a part. */
MUST_CHECK enum error_code graph_tables_put_text(const struct graph_tables *tables,
                                                 uint32_t relation, int part, const char *name,
                                                 struct error *err);
/* int64 [2, edges] of all parts, one behind the other. */
MUST_CHECK enum error_code graph_tables_put_edges(const struct graph_tables *tables,
                                                  uint32_t relation, const char *name,
                                                  struct error *err);
/* The values of an edge column in the parts first .. end - 1: float32, float64 or int64, [edges] or [edges, width]. */
MUST_CHECK enum error_code graph_tables_put_column(const struct graph_tables *tables,
                                                   uint32_t relation, int first, int end,
                                                   enum edge_column column, const char *name,
                                                   struct error *err);
/* Features of a type. */
MUST_CHECK enum error_code graph_tables_put_features(const struct graph_tables *tables,
                                                     uint32_t type, const char *name,
                                                     struct error *err);
/* Labels of the target type: of all its nodes, or where `split` is not SPLIT_COUNT of those alone: int64, or float32. */
MUST_CHECK enum error_code graph_tables_put_labels(const struct graph_tables *tables,
                                                   enum split split, const char *name,
                                                   struct error *err);
/* The nodes of a split, int64; or a mask of all nodes of the target type. */
MUST_CHECK enum error_code graph_tables_put_split(const struct graph_tables *tables,
                                                  enum split split, bool as_mask, const char *name,
                                                  struct error *err);
/* The part of each node of a type: lines; or int64 [nodes, 1]. */
MUST_CHECK enum error_code graph_tables_put_parts(const struct graph_tables *tables, uint32_t type,
                                                  bool as_text, const char *name,
                                                  struct error *err);
/* Ids of the input, a line a node, where they are not 0 .. N - 1; *is_written says so. */
MUST_CHECK enum error_code graph_tables_put_ids(const struct graph_tables *tables, uint32_t type,
                                                const char *name, bool *is_written,
                                                struct error *err);
MUST_CHECK enum error_code graph_tables_put_file(const struct graph_tables *tables,
                                                 const char *name, const char *text, size_t size,
                                                 struct error *err);
/* What one has to know who trains on it with DGL, for people. */
MUST_CHECK enum error_code graph_tables_put_note(const struct graph_tables *tables,
                                                 const char *introduction, struct error *err);

/* The two folders (distdgl_folder.c, graphbolt_folder.c). */
MUST_CHECK enum error_code export_distdgl(const struct run_folder *folder, const char *output,
                                          struct error *err);
MUST_CHECK enum error_code export_graphbolt(const struct run_folder *folder, const char *output,
                                            struct error *err);

#endif
