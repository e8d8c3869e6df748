/*
 * update_reader - the files of an update, compared with the version they are for, as a delta.
 *
 *   --remove-nodes  id                          a line each; a file of ids alone
 *   --remove-edges  source,target               all edges of the same ends; of an undirected graph both ways
 *   --add-nodes     id[,split[,label, ...]]     split: train, valid, test, or nothing; labels as the dataset has them
 *   --add-edges     source,target[,columns]     the columns that edges of the dataset have: named by a header, or weight, time and
 *                                               features in this order
 *   --features      id,x1,x2, ...               a row for each added node; for others the new one
 *
 * Where nodes have several types, files of nodes have the column `type` behind the id: --add-nodes must, --remove-nodes and --features may,
 * with a header that names it (update_node_file.h). Where edges have several relations, files of edges have a column `etype` (or
 * `relation`): the number of one, its name, or source:name:target. The reverses that ingest adds (ingest.add_reverse) follow by themselves,
 * and are no relation that a file could name. Rows of features are as wide as those of the type. Ids are those that outputs have.
 *
 * In a dataset of many graphs nodes that come say theirs behind the id, or the type, split and labels are of the graph (update_graphs.h), and
 * edges stay inside one.
 *
 * Of a dataset that learns links, those that are held out stay so: an added edge between the same nodes is no new example, and is left out.
 * Other added edges are trained on; with ingest.edge_split: random each draws for itself, as at ingest, unless edges of the same ends are
 * there already, in whichever relation: it goes where these are. Removed edges may be held out. The reverse of an edge goes where that goes. Where
 * held-out edges have given negatives no edge may draw their split, since it would have none; nodes that go leave those lists, but for the
 * last of one. Added edges of a dataset that learns labels of edges have the column that ingest.edge_label names; each is an example, in
 * the split of those of the same ends where pairs draw or files list them, else trained on.
 *
 * Each may be a pattern or a list (common/base/file_pattern.h): its files are read one behind the other, as if they were one. Files of edges have
 * a header each, or none; the others have that of the first.
 *
 * Ids are the user's. Comma, tab or blank separated, plain or gzip, with or without a header (one of edges names its columns, one
 * of nodes begins with "id" or "node"). What is removed goes first: an edge that is removed and added is there once more.
 *
 * What does not fit is said with file and line before anything is stored: what is removed and is not there, or twice; a node that
 * is added twice, or is there; an edge to a node that is not, or goes; other columns or another width than the dataset's; a class
 * that it has not. All of an update is held in memory, at most half of the budget.
 */
#ifndef STAGES_INGEST_UPDATE_UPDATE_READER_H
#define STAGES_INGEST_UPDATE_UPDATE_READER_H

#include "common/base/error.h"
#include "common/graph/relation_reverse.h"
#include "stages/ingest/build/edge_labels.h"
#include "stages/ingest/update/living_nodes.h"
#include "stages/ingest/update/update_graphs.h"
#include "stages/ingest/update/update_paths.h"
#include "stages/plan/pipeline_settings.h"
#include "stages/plan/update_request.h"
#include "stages/tables/edge_fields.h"
#include "stages/tables/value_notes.h"
#include "store/objects/store.h"
#include "store/records/dataset_delta.h"
#include "store/records/dataset_schema.h"
#include "store/records/edge_splits.h"
#include "store/records/feature_statistics.h"
#include "store/versions/merged_records.h"

#include <stddef.h>
#include <stdint.h>

struct held_key {
    uint64_t key; /* as that of gone_edge */
    uint32_t relation;
    int64_t time; /* 0 where edges have none */
};

struct gone_edge {     /* all edges of the same ends and relation */
    uint64_t key;      /* target in the high half, source in the low one */
    uint32_t relation; /* 0 where edges have one type */
    int64_t place;     /* where it stands, in the reader's paths */
};

struct update_reader { /* {0} is releasable */
    /* Set by the caller, borrowed. */
    struct store *store;
    const struct pipeline_settings *settings;
    const struct update_request *request;
    const struct dataset_schema *schema; /* of the version that the update is for */
    uint64_t memory_bytes;
    /* What is read. */
    struct dataset_delta
        delta; /* its arrays are those below; id, root and depth are the caller's business */
    uint64_t used_bytes;
    struct living_nodes nodes;
    struct update_graphs graphs;
    uint8_t *is_gone;                  /* [base nodes] */
    uint32_t *gone_node;               /* [gone_nodes] */
    uint32_t relation_count;           /* that files may name */
    bool has_reverses;                 /* that ingest adds */
    struct relation_reverses reverses; /* these, and others that are called so */
    uint32_t base_of_type[NODE_TYPE_COUNT_MAX], added_of_type[NODE_TYPE_COUNT_MAX],
        columns_of_type[NODE_TYPE_COUNT_MAX];
    struct gone_edge *gone; /* [gone_edges] ascending once read */
    uint32_t *gone_source, *gone_target;
    uint16_t *gone_relation;
    uint32_t *source, *target;
    struct update_paths paths; /* files of edges */
    int64_t *edge_place;       /* [added_edges] where each stands, in those */
    struct edge_columns columns;
    struct edge_labels labels; /* of edges, where these are learnt */
    uint32_t *
        label; /* of what is added and has some: nodes, or graphs; one row more, for a line that is compared */
    uint8_t *split;
    uint32_t *row_node;
    float *row;
    uint64_t row_numbers; /* in all rows */
    uint8_t *has_row;     /* [all nodes] */
    /* Of a dataset that learns links: those that are held out, by their keys, ascending; and added edges that join such nodes and are left out. */
    struct held_key *held_key[HELD_OUT_COUNT]; /* [held_count] */
    bool has_negatives[HELD_OUT_COUNT];        /* that are given */
    uint64_t held_count[HELD_OUT_COUNT], absorbed;
    uint8_t *new_held;            /* [added_edges] likewise */
    bool has_held;                /* one of them is not 0 */
    struct value_notes notes;     /* times are of the dataset's unit */
    struct edge_split link_split; /* by which new ones are held out */
    struct feature_statistics
        statistics[NODE_TYPE_COUNT_MAX]; /* what features of each type were scaled by */
    struct {
        size_t gone, source, target, edge_place, columns, row_node, row, new_held; /* elements */
    } room;
};

/* Reads all files into reader->delta. Fails: ERROR_INPUT naming file and line; ERROR_INVALID for a dataset that cannot be
 * updated; ERROR_NO_MEMORY; ERROR_NOT_FOUND, ERROR_IO. */
MUST_CHECK enum error_code update_reader_run(struct update_reader *reader, struct error *err);
void update_reader_release(struct update_reader *reader);
/* Counts bytes of what is held. Fails: ERROR_NO_MEMORY above half of the budget. */
MUST_CHECK enum error_code update_reader_take(struct update_reader *reader, uint64_t bytes,
                                              struct error *err);

/* The files one by one (update_nodes.c, update_edges.c, update_rows.c), in the order in which they are read. */
MUST_CHECK enum error_code update_nodes_remove(struct update_reader *reader, struct error *err);
MUST_CHECK enum error_code update_nodes_add(struct update_reader *reader, struct error *err);
MUST_CHECK enum error_code update_rows_take(struct update_reader *reader, struct error *err);
MUST_CHECK enum error_code update_edges_remove(struct update_reader *reader, struct error *err);
/* Before all of them: which links are held out. */
MUST_CHECK enum error_code update_links_open(struct update_reader *reader, struct error *err);
/* Where a new edge of a dataset that learns pairs goes: 0 to training, else 1 + enum held_out. *is_held: of links, the two are held out
 * already in its relation, and it is no new example; with times it may still be the first of them, by which ingest.edge_split: random tells
 * it. `time` of the edge, or 0. */
int update_links_place(const struct update_reader *reader, uint32_t source, uint32_t target,
                       uint32_t relation, int64_t time, bool *is_held);
/* Behind update_links_settle(): a new edge that is held out has no given negatives. Fails: ERROR_INPUT naming its line where those of its split
 * have some. */
MUST_CHECK enum error_code update_links_check_new(struct update_reader *reader, struct error *err);
/* When nodes and edges that go are known. Fails: ERROR_INPUT naming the line of a node that is the last given negative of an edge. */
MUST_CHECK enum error_code update_links_check_gone(struct update_reader *reader, struct error *err);
/* Labels of new edges (update_labels.c), by the settings. */
MUST_CHECK enum error_code update_labels_open(struct update_reader *reader, struct error *err);
/* The name of their column in a header, or NULL: edges have none, or those are their weights. */
const char *update_labels_column(const struct update_reader *reader);
/* Counts the column among those of the fields of a file. Fails: ERROR_INPUT naming file and line when there is none. */
MUST_CHECK enum error_code update_labels_expect(const struct update_reader *reader,
                                                struct edge_fields *fields, const char *where,
                                                int64_t line, struct error *err);
/* Makes the label of edge 0 of `value` what the dataset stores. Fails: ERROR_INPUT naming file and line for a class that the dataset has not. */
MUST_CHECK enum error_code update_labels_take(struct update_reader *reader, const char *where,
                                              int64_t line, const struct edge_columns *value,
                                              struct error *err);
/* A pass over the edges of the version that the update is for. */
struct merged_edges update_edges_pass(const struct update_reader *reader);
/* Whether a piece of them has an edge of this key and relation. */
bool update_chunk_has(const struct update_reader *reader, const struct edge_chunk *chunk,
                      uint64_t key, uint32_t relation);
/* Whether it has one of this key that stays, in any relation that is a reverse, or in any that is none. */
bool update_chunk_keeps(const struct update_reader *reader, const struct edge_chunk *chunk,
                        uint64_t key, bool is_reverse);
/* Whether edges of this key and relation go by themselves. */
bool update_edges_go(const struct update_reader *reader, uint64_t key, uint32_t relation);
/* Behind update_edges_add(): new edges of links that are trained on are trained on, whatever they draw. */
MUST_CHECK enum error_code update_links_settle(struct update_reader *reader, struct error *err);
/* Whether the link of this key and relation is held out; of a reverse that of which it is. */
bool update_links_has(const struct update_reader *reader, uint64_t key, uint32_t relation);
/* One number for all edges of the same ends. */
uint64_t update_edge_key(const struct update_reader *reader, uint32_t source, uint32_t target);
/* The key of a reverse turned, as that of the edge of which it is, and the other way; that of any other edge itself. */
uint64_t update_pair_key(const struct update_reader *reader, uint64_t key, uint32_t relation);
MUST_CHECK enum error_code update_edges_add(struct update_reader *reader, struct error *err);

#endif
