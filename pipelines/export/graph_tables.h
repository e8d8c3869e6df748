/*
 * graph_tables - writes the graph of a partition as files: its edges part by part, and the data of
 * its nodes. Nodes are numbered as in the input, within their type.
 *
 * The edges are those of the topologies: each as often, and in the direction, as a model sees it
 * (an undirected edge in both directions), in the part of its target node. For a task of pairs the
 * held-out edges are left out.
 */
#ifndef PIPELINES_EXPORT_GRAPH_TABLES_H
#define PIPELINES_EXPORT_GRAPH_TABLES_H

#include "common/files/file.h"
#include "pipelines/export/export_ids.h"
#include "pipelines/shared/run_folder.h"
#include "store/records/dataset/node_labels.h"
#include "store/records/dataset/node_splits.h"
#include "store/records/partition/node_permutation.h"
#include "store/topology/topology.h"

#include <stdbool.h>
#include <stdint.h>

struct graph_tables { /* {0} is closed */
    const struct run_folder *folder;
    struct node_permutation permutation;
    struct topology topology;
    struct export_ids ids;
    struct node_labels labels; /* of all nodes; {0} for a task without node labels */
    struct node_splits splits; /* of all nodes */
    uint32_t type_count, relation_count;
    uint32_t *type_first;      /* [type_count + 1]: first node of each type in the input */
    char path[FILE_PATH_SIZE]; /* of the folder, under a temporary name until it is complete */
    const char *output;
};

/* Makes the folder, which must not exist yet. Fails: ERROR_INVALID when it exists, for a dataset of
 * many graphs, and for names that cannot be part of a path; ERROR_IO. */
MUST_CHECK enum error_code graph_tables_open(struct graph_tables *tables,
                                             const struct run_folder *folder, const char *output,
                                             struct error *err);
/* Renames the folder to its final name. */
MUST_CHECK enum error_code graph_tables_finish(struct graph_tables *tables, struct error *err);
void graph_tables_close(struct graph_tables *tables); /* removes an unfinished folder */

/* Returns the name of a type. Without relations it is the one that DGL uses. */
const char *graph_tables_type(const struct graph_tables *tables, uint32_t type);
uint32_t graph_tables_type_size(const struct graph_tables *tables, uint32_t type);
/* Writes "source:name:target". */
void graph_tables_relation(const struct graph_tables *tables, uint32_t relation,
                           char out[FILE_PATH_SIZE]);
uint64_t graph_tables_edges(const struct graph_tables *tables, uint32_t relation, int part);

/* Files in the folder; `name` is relative to it. */

/* Writes the edges of a part, one line "source target" for each. */
MUST_CHECK enum error_code graph_tables_put_text(const struct graph_tables *tables,
                                                 uint32_t relation, int part, const char *name,
                                                 struct error *err);
/* Writes the edges of all parts, one part after another, as int64 [2, edges]. */
MUST_CHECK enum error_code graph_tables_put_edges(const struct graph_tables *tables,
                                                  uint32_t relation, const char *name,
                                                  struct error *err);
/* Writes an edge column of the parts first .. end - 1: float32, float64 or int64, [edges] or
 * [edges, width]. */
MUST_CHECK enum error_code graph_tables_put_column(const struct graph_tables *tables,
                                                   uint32_t relation, int first, int end,
                                                   enum edge_column column, const char *name,
                                                   struct error *err);
/* Writes the features of a type. */
MUST_CHECK enum error_code graph_tables_put_features(const struct graph_tables *tables,
                                                     uint32_t type, const char *name,
                                                     struct error *err);
/* Writes the labels of the target type, int64 or float32: those of all nodes, or of the nodes of
 * `split` if it is not SPLIT_COUNT. */
MUST_CHECK enum error_code graph_tables_put_labels(const struct graph_tables *tables,
                                                   enum split split, const char *name,
                                                   struct error *err);
/* Writes the nodes of a split, int64; or a mask of all nodes of the target type. */
MUST_CHECK enum error_code graph_tables_put_split(const struct graph_tables *tables,
                                                  enum split split, bool as_mask, const char *name,
                                                  struct error *err);
/* Writes the part of each node of a type, as lines or as int64 [nodes, 1]. */
MUST_CHECK enum error_code graph_tables_put_parts(const struct graph_tables *tables, uint32_t type,
                                                  bool as_text, const char *name,
                                                  struct error *err);
/* Writes the ids of the input, one line for each node, unless they are 0 .. N - 1. *is_written says
 * whether there is a file. */
MUST_CHECK enum error_code graph_tables_put_ids(const struct graph_tables *tables, uint32_t type,
                                                const char *name, bool *is_written,
                                                struct error *err);
MUST_CHECK enum error_code graph_tables_put_file(const struct graph_tables *tables,
                                                 const char *name, const char *text, size_t size,
                                                 struct error *err);
/* Writes notes for people who train on it with DGL. */
MUST_CHECK enum error_code graph_tables_put_note(const struct graph_tables *tables,
                                                 const char *introduction, struct error *err);

/* Export the graph in two layouts of folders (distdgl_folder.c, graphbolt_folder.c). */
MUST_CHECK enum error_code export_distdgl(const struct run_folder *folder, const char *output,
                                          struct error *err);
MUST_CHECK enum error_code export_graphbolt(const struct run_folder *folder, const char *output,
                                            struct error *err);

#endif
