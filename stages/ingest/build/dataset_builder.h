/*
 * dataset_builder - takes a graph piece by piece and writes it as the records of a dataset.
 *
 * Readers and the generator push into it; they hold a bounded piece of the input at a time. Edges
 * go to a scratch file while degrees are counted. dataset_builder_finish() then sorts them by
 * destination in a second pass (a counting sort over ranges of nodes that fit the memory budget)
 * and applies the policies for direction, self loops and duplicates. Peak memory is the budget.
 * With config.counts_process the budget includes the arrays that have one entry per node and the
 * whole process; without it they come on top. The chunks written do not depend on the budget.
 *
 * An edge repeats another when source, target and the columns that distinguish edges (type and
 * time) are the same after direction is applied: in an undirected graph "1 2" and "2 1" are one
 * edge. When repeated edges are removed, the first in input order stays, with all its columns. An
 * edge that is stored both ways has its columns twice. A row is ordered by neighbour, type, time
 * and input order. A self loop is stored once. The counts of removed edges in the schema are rows
 * of the input. Nothing is stored before all of the input is known to be good.
 *
 * Order of calls: new, set_nodes, then the others in any order (set_types before edges that have
 * types; set_ids early, because messages name nodes by their ids), finish. Labels, ids and each
 * split are set at most once. Errors in the input name the place that `where` gives
 * ("edges.csv:17").
 */
#ifndef STAGES_INGEST_BUILD_DATASET_BUILDER_H
#define STAGES_INGEST_BUILD_DATASET_BUILDER_H

#include "common/base/error.h"
#include "common/files/file.h"
#include "common/formats/text/column_encoding.h"
#include "common/graph/edge_column.h"
#include "common/parallel/thread_pool.h"
#include "stages/ingest/build/dataset_notes.h"
#include "stages/ingest/build/dataset_summary.h"
#include "stages/ingest/build/edges/given_edge.h"
#include "stages/plan/settings/pipeline_settings.h"
#include "stages/tables/stated_direction.h"
#include "stages/tables/value_notes.h"
#include "store/objects/store.h"
#include "store/records/dataset/dataset_schema.h"
#include "store/records/dataset/edge_splits.h"
#include "store/records/dataset/node_ids.h"
#include "store/records/dataset/node_splits.h"

#include <stdbool.h>
#include <stdint.h>

struct dataset_builder;
struct thread_pool;

/* Advice that is appended to the error message when the dataset has nothing to train on. */
struct training_advice {
    const char *labels, *train;
};

struct dataset_builder_config {
    struct store *store;
    const struct pipeline_settings *settings; /* borrowed until finish */
    const char *dataset_id;                   /* borrowed until finish */
    const char *name;
    const struct training_advice *advice; /* NULL: labels and training nodes are not required */
    /* filled by finish, released by the caller; NULL: not wanted */
    struct dataset_summary *summary;
    uint64_t memory_bytes;
    /* memory_bytes is for the whole process (memory_held.h), not only for what the builder
     * allocates */
    bool counts_process;
    struct thread_pool *pool; /* borrowed; NULL: the calling thread does all the work */
};

MUST_CHECK enum error_code dataset_builder_new(const struct dataset_builder_config *config,
                                               struct dataset_builder **out, struct error *err);
void dataset_builder_free(
    struct dataset_builder *builder); /* also removes scratch files; NULL is allowed */

/* Sets the nodes, 0 .. node_count - 1. Fails: ERROR_INPUT for 0 or more than 2^32 - 2 nodes. */
MUST_CHECK enum error_code dataset_builder_set_nodes(struct dataset_builder *builder,
                                                     uint64_t node_count,
                                                     enum stated_direction stated,
                                                     struct error *err);
/* Declares the types of a heterogeneous input. Without a call there is one node type "node" and one
 * edge type "edge". Node types are consecutive ranges that cover all nodes. With ingest.relations
 * the types stay apart (declared_types.h), and the ends of each edge must be of the node types of
 * its relation. `node_type` and `edge_type` are the types. */
MUST_CHECK enum error_code dataset_builder_set_types(struct dataset_builder *builder,
                                                     const struct node_type *node_type,
                                                     uint32_t node_type_count,
                                                     const struct edge_type *edge_type,
                                                     uint32_t edge_type_count, struct error *err);

/* A piece of the edges, in input order. The builder checks the ids. In messages, edge i is in line
 * (or row) `first_line` + i of `where`. All pieces have the same columns. */
struct edge_piece {
    const char *where;
    int64_t first_line;
    size_t count;
    /* [count], as read; an id may be out of range, which the builder refuses */
    const int64_t *source, *target;
    struct edge_columns_view columns; /* [count] */
};
MUST_CHECK enum error_code dataset_builder_add_edges(struct dataset_builder *builder,
                                                     const struct edge_piece *piece,
                                                     struct error *err);

/* Announces about `edge_count` edges, when a reader knows their number before the first one. Fails:
 * ERROR_NO_MEMORY when the budget cannot be enough, so that the refusal comes before the work. */
MUST_CHECK enum error_code dataset_builder_expect_edges(const struct dataset_builder *builder,
                                                        uint64_t edge_count, struct error *err);

/* Selects the node type of the feature rows that follow; before a call it is the first type. A
 * graph without relations has one type for all nodes, and needs no call. */
void dataset_builder_select_type(struct dataset_builder *builder, uint32_t type);
/* Adds the next feature rows [row_count, dim] in node order. All rows of a type have the same dim.
 * Fails: ERROR_INPUT for NaN and infinity, naming where, row and column. */
MUST_CHECK enum error_code dataset_builder_add_features(struct dataset_builder *builder,
                                                        const char *where, const float *rows,
                                                        uint64_t row_count, uint32_t dim,
                                                        struct error *err);
/* Sets the feature row [dim] of one node: the alternative to dataset_builder_add_features() for
 * rows in any order. Each node may come once. `line` is for messages. */
MUST_CHECK enum error_code dataset_builder_put_features(struct dataset_builder *builder,
                                                        const char *where, int64_t line,
                                                        uint64_t node, const float *row,
                                                        uint32_t dim, struct error *err);
/* Sets a row of `columns` labels for each node, in the form of its task. Node i is in line
 * `first_line` + i. The labels are copied. */
MUST_CHECK enum error_code dataset_builder_set_labels(struct dataset_builder *builder,
                                                      const char *where, int64_t first_line,
                                                      const struct label_rows *labels,
                                                      struct error *err);
/* Holds out an edge that a file lists (edge_holdout.h). Fails: ERROR_INPUT for an end out of
 * range. */
MUST_CHECK enum error_code dataset_builder_hold_out(struct dataset_builder *builder,
                                                    enum held_out split,
                                                    const struct given_edge *given,
                                                    struct error *err);
/* Sets the time at which a node appears. Fails: ERROR_INPUT for a node out of range, and for one
 * that has a time already; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code dataset_builder_set_time(struct dataset_builder *builder, int64_t node,
                                                    int64_t time, struct error *err);
/* Sets the negatives that a file lists for an edge (given_negatives.h). Fails: ERROR_INPUT for a
 * node out of range, and for an empty list. */
MUST_CHECK enum error_code dataset_builder_give_negatives(struct dataset_builder *builder,
                                                          enum split split,
                                                          const struct given_edge *edge,
                                                          const int64_t *node, size_t count,
                                                          struct error *err);
/* Returns how many types the edges of the input may have, once there are edges; 0: edges have no
 * types. */
uint32_t dataset_builder_edge_types(const struct dataset_builder *builder);
/* Returns the number of the edge type that has this name [size] or number (dataset_types.h), or
 * -1. */
int32_t dataset_builder_find_edge_type(const struct dataset_builder *builder, const char *name,
                                       size_t size);
/* Sets the graph of each node, for a task that learns graphs. Call it before edges, labels and
 * splits; labels and splits are then of graphs. graph [node_count] is the graph of each node, in
 * line `first_line` + i. The input calls the graphs first_id, first_id + 1, ... The array is
 * copied. Fails: ERROR_INPUT as graph_members_set(). */
MUST_CHECK enum error_code dataset_builder_set_graphs(struct dataset_builder *builder,
                                                      const char *where, int64_t first_line,
                                                      const int64_t *graph, int64_t first_id,
                                                      struct error *err);
/* Returns the number of graphs. */
uint32_t dataset_builder_graphs(const struct dataset_builder *builder);
/* Sets the node ids of one split, in any order. Fails: ERROR_INPUT, naming where and line, for a
 * node in two splits, a node twice in one, an id out of range, and a training node without a
 * label. */
MUST_CHECK enum error_code dataset_builder_set_split(struct dataset_builder *builder,
                                                     enum split split, const char *where,
                                                     int64_t first_line, const int64_t *node,
                                                     uint64_t count, struct error *err);
/* Sets the user's ids, if they are not 0 .. N-1, in one of the two forms of struct node_ids. They
 * are copied. */
MUST_CHECK enum error_code dataset_builder_set_ids(struct dataset_builder *builder,
                                                   const struct node_ids *ids, struct error *err);

/* Notes how a file was read, or warns of a likely slip (dataset_notes.h). Fails:
 * ERROR_NO_MEMORY. */
MUST_CHECK enum error_code dataset_builder_note(struct dataset_builder *builder,
                                                enum note_kind kind, struct error *err,
                                                const char *format, ...) PRINTF_LIKE(4, 5);

/* Notes that the input lacks these columns (one bit each) for an edge type but has them for others,
 * so that no edge gets them. */
void dataset_builder_note_lacks(struct dataset_builder *builder, uint32_t edge_type,
                                unsigned columns);
/* Returns the notes on values: how the times of edges are written (ingest.time_format; the first
 * time of the input narrows it for all files), and what the readers find out about values. */
struct value_notes *dataset_builder_notes(struct dataset_builder *builder);
/* Takes the time of each node [node_count], by which a split by time orders nodes; and the words of
 * classes and encoded columns, which are stored. The builder owns both from here on. */
void dataset_builder_take_times(struct dataset_builder *builder, int64_t *time);
void dataset_builder_take_encoding(struct dataset_builder *builder,
                                   struct column_encoding *encoding);

/* Makes a new folder of this name in the builder's scratch space, in which a reader unpacks its
 * files. The builder removes it. Fails: ERROR_IO, ERROR_NO_SPACE. */
MUST_CHECK enum error_code dataset_builder_folder(struct dataset_builder *builder, const char *name,
                                                  char path[FILE_PATH_SIZE], struct error *err);

/* Draws the splits and makes features as the settings say, then writes all records, the schema
 * last, because a dataset with a schema is complete. *schema may be NULL. */
MUST_CHECK enum error_code dataset_builder_finish(struct dataset_builder *builder,
                                                  struct dataset_schema *schema, struct error *err);

#endif
