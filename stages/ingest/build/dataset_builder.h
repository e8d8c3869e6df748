/*
 * dataset_builder - takes a graph piece by piece and writes it as the records of a dataset.
 *
 * Readers and the generator push into it; they hold a bounded piece of the input at a time. Edges
 * go to a scratch file while degrees are counted; finish() sorts them by destination in a second
 * pass (counting sort over ranges of nodes that fit the memory budget) and applies direction,
 * self-loop and duplicate policy. Peak memory is the budget, in which arrays of one entry a node
 * and the whole process are counted, too (config.counts_process; without it they come on top). The
 * chunks written do not depend on the budget.
 *
 * An edge repeats another when source, target and the columns that distinguish edges (type and
 * time) are the same, after direction is applied: of an undirected graph "1 2" and "2 1" are one
 * edge. Of repeated edges that are removed the first in input order stays, with all its columns; an
 * edge that is stored both ways has them twice. A row is ordered by neighbour, type, time, input. A
 * self loop is stored once. The counts of removed edges in the schema are rows of the input.
 * Nothing is stored before all of the input is known to be good.
 *
 * Order of calls: new, set_nodes, then the others in any order (set_types before edges that have
 * types, set_ids early, since messages name nodes by their ids), finish. Labels, ids and each split
 * come at most once. Errors of the input name what `where` says ("edges.csv:17").
 */
#ifndef STAGES_INGEST_BUILD_DATASET_BUILDER_H
#define STAGES_INGEST_BUILD_DATASET_BUILDER_H

#include "common/base/error.h"
#include "common/base/file.h"
#include "common/formats/column_encoding.h"
#include "common/graph/edge_column.h"
#include "common/parallel/thread_pool.h"
#include "stages/ingest/build/dataset_notes.h"
#include "stages/ingest/build/dataset_summary.h"
#include "stages/ingest/build/given_edge.h"
#include "stages/plan/pipeline_settings.h"
#include "stages/tables/stated_direction.h"
#include "stages/tables/value_notes.h"
#include "store/objects/store.h"
#include "store/records/dataset_schema.h"
#include "store/records/edge_splits.h"
#include "store/records/node_ids.h"
#include "store/records/node_splits.h"

#include <stdbool.h>
#include <stdint.h>

struct dataset_builder;
struct thread_pool;

/* What to do when there is nothing to train on: stands behind the message. */
struct training_advice {
    const char *labels, *train;
};

struct dataset_builder_config {
    struct store *store;
    const struct pipeline_settings *settings; /* borrowed until finish */
    const char *dataset_id;                   /* borrowed until finish */
    const char *name;
    const struct training_advice *advice; /* NULL: labels and training nodes are not asked for */
    /* filled by finish, released by the caller; NULL: not wanted */
    struct dataset_summary *summary;
    uint64_t memory_bytes;
    /* that is for the whole process (memory_held.h), not for what the builder takes */
    bool counts_process;
    struct thread_pool *pool; /* borrowed; NULL: the calling thread does all */
};

MUST_CHECK enum error_code dataset_builder_new(const struct dataset_builder_config *config,
                                               struct dataset_builder **out, struct error *err);
void dataset_builder_free(
    struct dataset_builder *builder); /* removes scratch files; NULL is fine */

/* Nodes are 0 .. node_count - 1. Fails: ERROR_INPUT for 0 or more than 2^32 - 2 nodes. */
MUST_CHECK enum error_code dataset_builder_set_nodes(struct dataset_builder *builder,
                                                     uint64_t node_count,
                                                     enum stated_direction stated,
                                                     struct error *err);
/* Types, for heterogeneous inputs; without a call there is one node type "node" and one edge type
 * "edge". Node types are consecutive ranges that cover all nodes. With ingest.relations they are
 * told apart (declared_types.h), and the ends of each edge are those of its type; `node_type` and
 * `edge_type` say which. */
MUST_CHECK enum error_code dataset_builder_set_types(struct dataset_builder *builder,
                                                     const struct node_type *node_type,
                                                     uint32_t node_type_count,
                                                     const struct edge_type *edge_type,
                                                     uint32_t edge_type_count, struct error *err);

/* A piece of the edges, in input order. Ids are checked by the builder: `first_line` + i is the
 * line (or row) of edge i in `where`, for messages. All pieces have the same columns. */
struct edge_piece {
    const char *where;
    int64_t first_line;
    size_t count;
    const int64_t *source, *target;   /* [count], as read: may be out of range, which is an error */
    struct edge_columns_view columns; /* [count] */
};
MUST_CHECK enum error_code dataset_builder_add_edges(struct dataset_builder *builder,
                                                     const struct edge_piece *piece,
                                                     struct error *err);

/* About `edge_count` edges will come, where a reader knows it before the first. Fails:
 * ERROR_NO_MEMORY when the budget cannot be enough, which is then said before the work. */
MUST_CHECK enum error_code dataset_builder_expect_edges(const struct dataset_builder *builder,
                                                        uint64_t edge_count, struct error *err);

/* Of which node type the feature rows are that follow; of the first before a call. Of a graph
 * without relations all types are one, and there is nothing to say. */
void dataset_builder_select_type(struct dataset_builder *builder, uint32_t type);
/* Feature rows of the input, in node order: rows [row_count, dim]. All rows of a type have the same
 * dim. NaN and infinity are refused with where, row and column. */
MUST_CHECK enum error_code dataset_builder_add_features(struct dataset_builder *builder,
                                                        const char *where, const float *rows,
                                                        uint64_t row_count, uint32_t dim,
                                                        struct error *err);
/* The feature row [dim] of one node, instead; each node once, in any order. `line` is for
 * messages. */
MUST_CHECK enum error_code dataset_builder_put_features(struct dataset_builder *builder,
                                                        const char *where, int64_t line,
                                                        uint64_t node, const float *row,
                                                        uint32_t dim, struct error *err);
/* A row of labels of `columns` columns for each node, as its task has them; `first_line` + i is
 * node i's line. Copied. */
MUST_CHECK enum error_code dataset_builder_set_labels(struct dataset_builder *builder,
                                                      const char *where, int64_t first_line,
                                                      const struct label_rows *labels,
                                                      struct error *err);
/* A held-out edge that is given (edge_holdout.h). Fails: ERROR_INPUT for an end out of range. */
MUST_CHECK enum error_code dataset_builder_hold_out(struct dataset_builder *builder,
                                                    enum held_out split,
                                                    const struct given_edge *given,
                                                    struct error *err);
/* When a node appears. Fails: ERROR_INPUT for a node out of range, and for one that has a time
 * already; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code dataset_builder_set_time(struct dataset_builder *builder, int64_t node,
                                                    int64_t time, struct error *err);
/* Given negatives of an edge (given_negatives.h). Fails: ERROR_INPUT for a node out of range, and
 * for none. */
MUST_CHECK enum error_code dataset_builder_give_negatives(struct dataset_builder *builder,
                                                          enum split split,
                                                          const struct given_edge *edge,
                                                          const int64_t *node, size_t count,
                                                          struct error *err);
/* Types that edges of the input may have, once there are edges; 0: they have none. */
uint32_t dataset_builder_edge_types(const struct dataset_builder *builder);
/* Returns the number of the edge type that has this name [size] or number (dataset_types.h), or
 * -1. */
int32_t dataset_builder_find_edge_type(const struct dataset_builder *builder, const char *name,
                                       size_t size);
/* Of a task of graphs, before edges, labels and splits, which are then of graphs: graph
 * [node_count] is that of each node, in line `first_line` + i, and graphs are called first_id,
 * first_id + 1, ... Copied. Fails: ERROR_INPUT as graph_members_set(). */
MUST_CHECK enum error_code dataset_builder_set_graphs(struct dataset_builder *builder,
                                                      const char *where, int64_t first_line,
                                                      const int64_t *graph, int64_t first_id,
                                                      struct error *err);
/* How many there are. */
uint32_t dataset_builder_graphs(const struct dataset_builder *builder);
/* Node ids of one split, any order. A node in two splits, twice in one, out of range, or (train)
 * without a label is refused with where and line. */
MUST_CHECK enum error_code dataset_builder_set_split(struct dataset_builder *builder,
                                                     enum split split, const char *where,
                                                     int64_t first_line, const int64_t *node,
                                                     uint64_t count, struct error *err);
/* The user's ids when they are not 0 .. N-1: one of the two forms of struct node_ids. Copied. */
MUST_CHECK enum error_code dataset_builder_set_ids(struct dataset_builder *builder,
                                                   const struct node_ids *ids, struct error *err);

/* Says how a file was read, or warns of a likely slip (dataset_notes.h). Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code dataset_builder_note(struct dataset_builder *builder,
                                                enum note_kind kind, struct error *err,
                                                const char *format, ...) PRINTF_LIKE(4, 5);

/* Notes that the input has no such columns (a bit for each) for an edge type, though it has them
 * for others, so that no edge gets them. */
void dataset_builder_note_lacks(struct dataset_builder *builder, uint32_t edge_type,
                                unsigned columns);
/* Returns how the times of edges are written (ingest.time_format; the first time of the input
 * narrows it for all files), and what readers find out about values. */
struct value_notes *dataset_builder_notes(struct dataset_builder *builder);
/* The time of each node, [node_count], that a split by time goes by; and the words of classes and
 * encoded columns, which are stored. Both become the builder's. */
void dataset_builder_take_times(struct dataset_builder *builder, int64_t *time);
void dataset_builder_take_encoding(struct dataset_builder *builder,
                                   struct column_encoding *encoding);

/* A new folder of this name in the builder's scratch space, where a reader unpacks what it reads;
 * gone with the builder.
 * Fails: ERROR_IO, ERROR_NO_SPACE. */
MUST_CHECK enum error_code dataset_builder_folder(struct dataset_builder *builder, const char *name,
                                                  char path[FILE_PATH_SIZE], struct error *err);

/* Draws the splits and makes features as the settings say, writes all records, the schema last.
 * *schema may be NULL. */
MUST_CHECK enum error_code dataset_builder_finish(struct dataset_builder *builder,
                                                  struct dataset_schema *schema, struct error *err);

#endif
