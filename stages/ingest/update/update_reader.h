/*
 * update_reader - reads the files of an update, compares them with the version that they are for,
 * and makes a delta.
 *
 *   --remove-nodes  id                          one in each line; a file of ids alone
 *   --remove-edges  source,target               all edges with these ends; in an undirected graph
 *                                               in both directions
 *   --add-nodes     id[,split[,label, ...]]     split: train, valid, test, or empty; labels as the
 *                                               dataset has them
 *   --add-edges     source,target[,columns]     the columns that edges of the dataset have: named
 *                                               by a header, or weight, time and features in this
 *                                               order
 *   --features      id,x1,x2, ...               a row for each added node; for others a new row
 *
 * If nodes have several types, files of nodes have the column `type` after the id, and a header
 * that names it (update_node_file.h): --add-nodes must have it, --remove-nodes and --features may.
 * If edges have several relations, files of edges have a column `etype` (or `relation`) with the
 * number of a relation, its name, or source:name:target. The reverses that ingest adds
 * (ingest.add_reverse) are updated automatically, and files cannot name them. Rows of features are
 * as wide as those of the type. Ids are those that outputs have.
 *
 * In a dataset of many graphs, added nodes name their graph after the id, or after the type; split
 * and labels belong to the graph (update_graphs.h), and edges stay inside one graph.
 *
 * In a dataset that learns links, held-out links stay held out: an added edge between the same
 * nodes is no new example, and is left out. Other added edges are trained on. With
 * ingest.edge_split: random each draws for itself, as at ingest, unless edges with the same ends
 * exist already, in whichever relation: then it goes to their split. Removed edges may be held out.
 * The reverse of an edge goes where the edge goes. If held-out edges have negatives that files
 * list, no added edge may draw their split, because it would have none. Removed nodes are removed
 * from those lists, except the last node of a list, which is refused. In a dataset that learns
 * labels of edges, added edges have the column that ingest.edge_label names. Each is an example: if
 * pairs draw or files list them, in the split of the edges with the same ends, else for training.
 *
 * Each option may have a pattern or a list (common/files/file_pattern.h): the files are read one
 * after the other, as if they were one. Files of edges have a header each, or none; the others have
 * the header of the first.
 *
 * Ids are the user's. Text is comma, tab or blank separated, plain or gzip, with or without a
 * header (a header of edges names its columns, one of nodes begins with "id" or "node"). Removals
 * come first: an edge that is removed and added exists afterwards.
 *
 * A line that does not fit is refused, with file and line, before anything is stored: a removed
 * node or edge that does not exist or is removed twice; a node that is added twice, or exists; an
 * edge to a node that does not exist, or is removed; other columns or another width than the
 * dataset's; a class that the dataset does not have. The whole update is held in memory, at most
 * half of the budget.
 */
#ifndef STAGES_INGEST_UPDATE_UPDATE_READER_H
#define STAGES_INGEST_UPDATE_UPDATE_READER_H

#include "common/base/error.h"
#include "common/graph/relation_reverse.h"
#include "stages/ingest/build/edge_labels.h"
#include "stages/ingest/update/living_nodes.h"
#include "stages/ingest/update/update_graphs.h"
#include "stages/ingest/update/update_paths.h"
#include "stages/plan/settings/pipeline_settings.h"
#include "stages/plan/settings/update_request.h"
#include "stages/tables/edge_fields.h"
#include "stages/tables/value_notes.h"
#include "store/objects/store.h"
#include "store/records/dataset/dataset_delta.h"
#include "store/records/dataset/dataset_schema.h"
#include "store/records/dataset/edge_splits.h"
#include "store/records/dataset/feature_statistics.h"
#include "store/versions/merged_records.h"

#include <stddef.h>
#include <stdint.h>

struct held_key {
    uint64_t key; /* the same form as that of gone_edge */
    uint32_t relation;
    int64_t time; /* 0 if edges have none */
};

struct gone_edge {     /* removes all edges with these ends and this relation */
    uint64_t key;      /* target in the high half, source in the low one */
    uint32_t relation; /* 0 if edges have one type */
    int64_t place;     /* place of the line, in the reader's paths */
};

struct update_reader { /* {0} is releasable */
    /* Set by the caller, borrowed. */
    struct store *store;
    const struct pipeline_settings *settings;
    const struct update_request *request;
    const struct dataset_schema *schema; /* schema of the version that the update is for */
    uint64_t memory_bytes;
    /* The results. */
    /* its arrays are those below; the caller sets id, root and depth */
    struct dataset_delta delta;
    uint64_t used_bytes;
    struct living_nodes nodes;
    struct update_graphs graphs;
    uint8_t *is_gone;        /* [base nodes] */
    uint32_t *gone_node;     /* [gone_nodes] */
    uint32_t relation_count; /* number of relations that files may name */
    bool has_reverses;       /* ingest adds reverses */
    /* the reverses that ingest adds, and other relations with such names */
    struct relation_reverses reverses;
    uint32_t base_of_type[NODE_TYPE_COUNT_MAX], added_of_type[NODE_TYPE_COUNT_MAX],
        columns_of_type[NODE_TYPE_COUNT_MAX];
    struct gone_edge *gone; /* [gone_edges] ascending once read */
    uint32_t *gone_source, *gone_target;
    uint16_t *gone_relation;
    uint32_t *source, *target;
    struct update_paths paths; /* the files of edges */
    int64_t *edge_place;       /* [added_edges] the place of each in these files */
    struct edge_columns columns;
    struct edge_labels labels; /* for labels of edges, if they are learnt */
    /* the labels of added nodes, or graphs, that have some; one row more, for a line that is
     * compared */
    uint32_t *label;
    uint8_t *split;
    uint32_t *row_node;
    float *row;
    uint64_t row_numbers; /* number of label elements in all rows */
    uint8_t *has_row;     /* [all nodes] */
    /* For a dataset that learns links: the held-out ones by key, ascending; and the added edges
     * that join such nodes and are left out. */
    struct held_key *held_key[HELD_OUT_COUNT]; /* [held_count] */
    bool has_negatives[HELD_OUT_COUNT];        /* the split has listed negatives */
    uint64_t held_count[HELD_OUT_COUNT], absorbed;
    uint8_t *new_held;            /* [added_edges] 0: training, else 1 + enum held_out */
    bool has_held;                /* an entry of new_held is not 0 */
    struct value_notes notes;     /* times have the dataset's unit */
    struct edge_split link_split; /* by which new edges are held out */
    /* the statistics that features of each type were scaled by */
    struct feature_statistics statistics[NODE_TYPE_COUNT_MAX];
    struct {
        /* room of the arrays, in elements */
        size_t gone, source, target, edge_place, columns, row_node, row, new_held;
    } room;
};

/* Reads all files into reader->delta. Fails: ERROR_INPUT naming file and line; ERROR_INVALID for a
 * dataset that cannot be updated; ERROR_NO_MEMORY; ERROR_NOT_FOUND, ERROR_IO. */
MUST_CHECK enum error_code update_reader_run(struct update_reader *reader, struct error *err);
void update_reader_release(struct update_reader *reader);
/* Adds `bytes` to the memory that the update uses. Fails: ERROR_NO_MEMORY above half of the
 * budget. */
MUST_CHECK enum error_code update_reader_take(struct update_reader *reader, uint64_t bytes,
                                              struct error *err);

/* Read the files one by one (update_nodes.c, update_edges.c, update_rows.c), in this order. */
MUST_CHECK enum error_code update_nodes_remove(struct update_reader *reader, struct error *err);
MUST_CHECK enum error_code update_nodes_add(struct update_reader *reader, struct error *err);
MUST_CHECK enum error_code update_rows_take(struct update_reader *reader, struct error *err);
MUST_CHECK enum error_code update_edges_remove(struct update_reader *reader, struct error *err);
/* Finds which links are held out. Call it before all of the files. */
MUST_CHECK enum error_code update_links_open(struct update_reader *reader, struct error *err);
/* Returns where a new edge of a dataset that learns pairs goes: 0 for training, else 1 + enum
 * held_out. *is_held: the link of its pair is held out already in its relation, so the edge is no
 * new example. With ingest.edge_split: random and times *is_held is false, because the new edge may
 * be the earliest of the pair, which is the example. `time` is that of the edge, or 0. */
int update_links_place(const struct update_reader *reader, uint32_t source, uint32_t target,
                       uint32_t relation, int64_t time, bool *is_held);
/* Checks that no new edge goes to a split whose edges have listed negatives, since the new edge
 * would have none. Call it after update_links_settle(). Fails: ERROR_INPUT naming the line of the
 * edge. */
MUST_CHECK enum error_code update_links_check_new(struct update_reader *reader, struct error *err);
/* Checks the removed nodes and edges against listed negatives, once they are known. Fails:
 * ERROR_INPUT naming the line of a node that is the last negative of an edge. */
MUST_CHECK enum error_code update_links_check_gone(struct update_reader *reader, struct error *err);
/* Prepares the labels of new edges (update_labels.c), by the settings. */
MUST_CHECK enum error_code update_labels_open(struct update_reader *reader, struct error *err);
/* Returns the name of the label column in a header. Returns NULL if edges have no labels, or if the
 * weights are the labels. */
const char *update_labels_column(const struct update_reader *reader);
/* Counts the label column among the fields of a file. Fails: ERROR_INPUT naming file and line when
 * there is none. */
MUST_CHECK enum error_code update_labels_expect(const struct update_reader *reader,
                                                struct edge_fields *fields, const char *where,
                                                int64_t line, struct error *err);
/* Changes the label of edge 0 of `value` to the form that the dataset stores. Fails: ERROR_INPUT
 * naming file and line for a class that the dataset does not have. */
MUST_CHECK enum error_code update_labels_take(struct update_reader *reader, const char *where,
                                              int64_t line, const struct edge_columns *value,
                                              struct error *err);
/* Returns a pass over the edges of the version that the update is for. */
struct merged_edges update_edges_pass(const struct update_reader *reader);
/* Returns whether a chunk of them has an edge with this key and relation. */
bool update_chunk_has(const struct update_reader *reader, const struct edge_chunk *chunk,
                      uint64_t key, uint32_t relation);
/* Returns whether the chunk has an edge with this key that stays; `is_reverse`: in any relation
 * that is a reverse, else in any that is none. */
bool update_chunk_keeps(const struct update_reader *reader, const struct edge_chunk *chunk,
                        uint64_t key, bool is_reverse);
/* Returns whether the update removes the edges of this key and relation by naming them. */
bool update_edges_go(const struct update_reader *reader, uint64_t key, uint32_t relation);
/* Puts new edges into training, whatever they drew, if a link of the same ends is trained on. Call
 * it after update_edges_add(). */
MUST_CHECK enum error_code update_links_settle(struct update_reader *reader, struct error *err);
/* Returns whether the link of this key and relation is held out. A reverse is held out if its edge
 * is. */
bool update_links_has(const struct update_reader *reader, uint64_t key, uint32_t relation);
/* Returns one number for all edges with the same ends. */
uint64_t update_edge_key(const struct update_reader *reader, uint32_t source, uint32_t target);
/* Returns the key with its two ends exchanged for an edge of a reverse relation, which is the key
 * of the forward edge, and the other way round; the key itself for any other edge. */
uint64_t update_pair_key(const struct update_reader *reader, uint64_t key, uint32_t relation);
MUST_CHECK enum error_code update_edges_add(struct update_reader *reader, struct error *err);

#endif
