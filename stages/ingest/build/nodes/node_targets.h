/*
 * node_targets - what is to be learnt about the nodes: their labels and their splits; for a task of
 * graphs, those of the graphs.
 *
 * Labels and splits arrive in any order. What concerns both (a training node has a label) is
 * therefore checked at the end, and the place of each split is kept for that message.
 */
#ifndef STAGES_INGEST_BUILD_NODES_NODE_TARGETS_H
#define STAGES_INGEST_BUILD_NODES_NODE_TARGETS_H

#include "common/base/error.h"
#include "stages/plan/settings/pipeline_settings.h"
#include "store/objects/store.h"
#include "store/records/dataset/dataset_schema.h"
#include "store/records/dataset/node_ids.h"
#include "store/records/dataset/node_splits.h"

#include <stdbool.h>
#include <stdint.h>

enum { CLASS_COUNT_MAX = 1 << 20 }; /* each class needs weights */

/* The labels that a reader passes on, as rows in the form of the task. */
struct label_rows {
    enum task_kind task;
    uint32_t columns; /* columns of the input */
    uint64_t count;
    const void *row; /* [count, label_width] of four bytes each */
};

struct split_list {
    uint32_t *node; /* [count] in the order given; ascending once checked */
    uint32_t count;
    char *where;
    int64_t first_line;
};

struct node_targets {    /* {0} is empty */
    uint32_t node_count; /* number of nodes, or of graphs */
    const char *subject; /* what messages call an entry: "graph"; NULL: "node" */
    int64_t first_id;    /* for graphs: the number that the input gives the first one */
    struct node_ids ids; /* the ids that messages use; borrowed, {0}: numbers */
    enum task_kind task; /* TASK_UNKNOWN before labels are set; TASK_NONE when no node has one */
    uint32_t class_count, label_width;
    uint32_t expected_classes; /* ingest.class_count; 0: the labels show the number */
    uint32_t *label;           /* [node_count, label_width] or NULL */
    uint8_t *split_of;         /* [node_count] 0: no split, else 1 + enum split */
    struct split_list split[SPLIT_COUNT];
    int64_t *time; /* [node_count] by which a split by time orders nodes, or NULL; owned */
};

/* See dataset_builder.h for the rules. */
MUST_CHECK enum error_code node_targets_set_labels(struct node_targets *targets, const char *where,
                                                   int64_t first_line,
                                                   const struct label_rows *labels,
                                                   struct error *err);
/* Returns the labels of a node; has_label says whether it has any. */
const void *node_targets_row(const struct node_targets *targets, uint32_t node);
bool node_targets_has_label(const struct node_targets *targets, uint32_t node);
MUST_CHECK enum error_code node_targets_set_split(struct node_targets *targets, enum split split,
                                                  const char *where, int64_t first_line,
                                                  const int64_t *node, uint64_t count,
                                                  struct error *err);
/* Draws the splits from the labelled nodes, if the input gives none: shares->percent of them for
 * train, valid and test, rounded to whole nodes. No split may have been set.
 *   random      a random draw; at least one node for train
 *   stratified  the same within each class; each node has at most one class
 *   hash        by the id: 100 buckets, the first percent[train] of them for train, and so on. The
 *               shares are met approximately, and a node keeps its split when other nodes come
 *   time        the earliest nodes for train; nodes of one time are in one split, the earlier one
 * Fails: ERROR_INPUT without nodes for train; ERROR_INVALID for strata without classes;
 * ERROR_NO_MEMORY. */
MUST_CHECK enum error_code node_targets_draw_splits(struct node_targets *targets,
                                                    const struct split_shares *shares,
                                                    uint64_t seed, struct error *err);
/* Checks labels, splits and the chosen task against each other; *task is the task of the
 * dataset. */
MUST_CHECK enum error_code node_targets_check(struct node_targets *targets, enum task_kind choice,
                                              enum task_kind *task, struct error *err);
/* Sets that no node has a label, for the task and the expected number of classes. Call it only if
 * there are no labels. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code node_targets_set_none(struct node_targets *targets, enum task_kind task,
                                                 struct error *err);
/* Stores the labels, if there are any, and the splits. Call it after the check. */
MUST_CHECK enum error_code node_targets_put(const struct node_targets *targets, struct store *store,
                                            const char *dataset_id, struct error *err);
void node_targets_release(struct node_targets *targets);

#endif
