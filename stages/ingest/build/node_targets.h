/*
 * node_targets - what is to be learnt of the nodes: labels, and which nodes are for what; of a task of graphs, of the graphs.
 *
 * Labels and splits arrive in any order, so what concerns both (a training node has a label) is
 * checked at the end, and where each split came from is kept for that message.
 */
#ifndef STAGES_INGEST_BUILD_NODE_TARGETS_H
#define STAGES_INGEST_BUILD_NODE_TARGETS_H

#include "common/base/error.h"
#include "stages/plan/pipeline_settings.h"
#include "store/objects/store.h"
#include "store/records/dataset_schema.h"
#include "store/records/node_ids.h"
#include "store/records/node_splits.h"

#include <stdbool.h>
#include <stdint.h>

enum { CLASS_COUNT_MAX = 1 << 20 }; /* each needs weights */

/* Labels on their way: rows of the task's form. */
struct label_rows {
    enum task_kind task;
    uint32_t columns; /* that they had in the input */
    uint64_t count;
    const void *row; /* [count, label_width] of four bytes each */
};

struct split_list {
    uint32_t *node; /* [count] as given; ascending once checked */
    uint32_t count;
    char *where;
    int64_t first_line;
};

struct node_targets {    /* {0} has nothing */
    uint32_t node_count; /* or graphs */
    const char *subject; /* what messages call one: "graph"; NULL: "node" */
    int64_t first_id;    /* of graphs: what the input calls the first */
    struct node_ids ids; /* what messages call nodes; borrowed, {0}: their numbers */
    enum task_kind task; /* TASK_UNKNOWN before there are labels; TASK_NONE when no node has one */
    uint32_t class_count, label_width;
    uint32_t expected_classes; /* ingest.class_count; 0: as many as labels say */
    uint32_t *label;           /* [node_count, label_width] or NULL */
    uint8_t *split_of;         /* [node_count] 0: none, else 1 + enum split */
    struct split_list split[SPLIT_COUNT];
    int64_t *time; /* [node_count] that a split by time goes by, or NULL; owned */
};

/* See dataset_builder.h for the rules. */
MUST_CHECK enum error_code node_targets_set_labels(struct node_targets *targets, const char *where,
                                                   int64_t first_line,
                                                   const struct label_rows *labels,
                                                   struct error *err);
/* The labels of a node; has_label: whether it has any. */
const void *node_targets_row(const struct node_targets *targets, uint32_t node);
bool node_targets_has_label(const struct node_targets *targets, uint32_t node);
MUST_CHECK enum error_code node_targets_set_split(struct node_targets *targets, enum split split,
                                                  const char *where, int64_t first_line,
                                                  const int64_t *node, uint64_t count,
                                                  struct error *err);
/* Makes the splits out of the labelled nodes instead: shares->percent of them for train, valid and test, as
 * nearly as whole nodes go. No split may have been given.
 *   random      drawn; at least one for train
 *   stratified  the same of each class by itself, where a node has one class
 *   hash        by the id: 100 buckets, the first percent[train] of them for train, ... So shares are met nearly, and a node
 *               stays in its split whatever other nodes come
 *   time        the earliest for train; nodes of one time are in one split, the earlier of two
 * Fails: ERROR_INPUT without nodes for train; ERROR_INVALID for strata without classes; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code node_targets_draw_splits(struct node_targets *targets,
                                                    const struct split_shares *shares,
                                                    uint64_t seed, struct error *err);
/* What concerns labels, splits and the chosen task together; *task is what the dataset is for. */
MUST_CHECK enum error_code node_targets_check(struct node_targets *targets, enum task_kind choice,
                                              enum task_kind *task, struct error *err);
/* No node has a label, of the task and as many classes as are expected. Only without labels. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code node_targets_set_none(struct node_targets *targets, enum task_kind task,
                                                 struct error *err);
/* After the check: stores the labels, if there are any, and the splits. */
MUST_CHECK enum error_code node_targets_put(const struct node_targets *targets, struct store *store,
                                            const char *dataset_id, struct error *err);
void node_targets_release(struct node_targets *targets);

#endif
