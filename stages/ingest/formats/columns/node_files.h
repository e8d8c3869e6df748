/*
 * node_files - labels, features and splits of the nodes of an edge list, in files beside it that
 * are keyed by its ids.
 *
 *   labels       id,class  or  id,0,1,...    a node without a line has no label; a class of -1,
 *                                            "nan" or an empty cell means the same
 *   features     id,x1,x2,...                a line for every node; or .npy [rows, dim], whose row
 *                                            i is
 *   feature_ids  id                          the node of line i here, or the node with the id i
 *   train, valid, test                       id, a line a node
 *
 * Labels and features may be one table with a header, from which settings choose columns by name.
 * Words may be classes. Columns of features may be words, or have missing values
 * (table_encoding.h). Splits may be columns beside the labels, and so may the times of a split by
 * time.
 *
 * Text is comma, tab or blank separated, plain or gzip, with or without a header (keyed_file.h).
 * Nodes that only labels or features name are nodes without edges. A split may only name known
 * nodes.
 */
#ifndef STAGES_INGEST_FORMATS_COLUMNS_NODE_FILES_H
#define STAGES_INGEST_FORMATS_COLUMNS_NODE_FILES_H

#include "common/base/error.h"
#include "stages/ingest/build/dataset_builder.h"
#include "stages/ingest/build/nodes/named_nodes.h"
#include "stages/ingest/formats/columns/keyed_file.h"

enum { NODE_FILE_ID_SIZE = 48 };

struct node_file_ids {         /* how many ids of a file the graph has */
    uint64_t lines, strangers; /* lines; those whose node is in no edge and no earlier file */
    int64_t first_stranger;    /* line of the first stranger */
    char stranger[NODE_FILE_ID_SIZE];
};

struct node_files { /* a path of NULL: no such file */
    struct keyed_file labels, features, feature_ids, split[SPLIT_COUNT];
    struct keyed_file marks; /* the labels' table once more, for its columns of splits and times */
    struct node_file_ids label_ids, feature_file_ids;
    enum task_kind task;
    const struct pipeline_settings *settings; /* borrowed; NULL: only what the rows show */
    struct split_shares shares;
    struct column_encoding encoding;
    uint8_t *has_label; /* [nodes] set once labels are pushed, if splits are columns; owned */
    char *names;        /* the columns of the encoding file, if there is one; owned */
};

/* Opens the files that the settings name. Borrows `settings`. Fails: ERROR_INPUT, ERROR_NOT_FOUND
 * for ingest.column_encoding. */
MUST_CHECK enum error_code node_files_open(struct node_files *files,
                                           const struct pipeline_settings *settings,
                                           struct error *err);
void node_files_release(struct node_files *files);
/* Checks, before anything is read, that labels and training nodes are there. Fails: ERROR_INPUT
 * without them, with the line to add. */
MUST_CHECK enum error_code node_files_check(const struct pipeline_settings *settings,
                                            struct error *err);
/* Notes the ids of labels and features, after those of the edges. Fails: ERROR_INPUT naming file
 * and line; ERROR_NOT_FOUND. */
MUST_CHECK enum error_code node_files_note(struct node_files *files, struct named_nodes *nodes,
                                           struct error *err);
/* Pushes labels, features and splits, once all ids are known. Fails: ERROR_INPUT naming file, line,
 * what was expected and found: a node that does not exist, is labelled twice, has no features,
 * ... */
MUST_CHECK enum error_code node_files_push(struct node_files *files,
                                           const struct named_nodes *nodes,
                                           struct dataset_builder *builder, struct error *err);

/* Pushes the file of one split. Fails: as node_files_push(). */
MUST_CHECK enum error_code node_files_push_split(struct keyed_file *file, enum split split,
                                                 const struct named_nodes *nodes,
                                                 struct dataset_builder *builder,
                                                 struct error *err);

#endif
