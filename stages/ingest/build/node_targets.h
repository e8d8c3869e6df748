/*
 * node_targets - what is to be learnt of the nodes: labels, and which nodes are for what.
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

enum { LABEL_MAX = (1 << 20) - 1 }; /* a class needs weights; an id in the label file is a slip */

struct split_list {
    uint32_t *node; /* [count] as given; ascending once checked */
    uint32_t count;
    char *where;
    int64_t first_line;
};

struct node_targets { /* {0} has nothing */
    uint32_t node_count;
    struct node_ids ids; /* what messages call nodes; borrowed, {0}: their numbers */
    int32_t *label;      /* [node_count] or NULL */
    float *multi;        /* [node_count, class_count] or NULL */
    uint32_t class_count;
    uint8_t *split_of; /* [node_count] 0: none, else 1 + enum split */
    struct split_list split[SPLIT_COUNT];
};

/* See dataset_builder.h for the rules. */
MUST_CHECK enum error_code node_targets_set_labels(struct node_targets *targets, const char *where,
                                                   int64_t first_line, const int64_t *label,
                                                   uint64_t count, struct error *err);
MUST_CHECK enum error_code node_targets_set_multi(struct node_targets *targets, const char *where,
                                                  const float *label, uint64_t count,
                                                  uint32_t class_count, struct error *err);
MUST_CHECK enum error_code node_targets_set_split(struct node_targets *targets, enum split split,
                                                  const char *where, int64_t first_line,
                                                  const int64_t *node, uint64_t count,
                                                  struct error *err);
/* Draws the splits out of the labelled nodes instead: `percent` of them for train, valid and test, as
 * nearly as whole nodes go, at least one for train. No split may have been given. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code node_targets_draw_splits(struct node_targets *targets,
                                                    const int percent[SPLIT_COUNT], uint64_t seed,
                                                    struct error *err);
/* What concerns labels, splits and the chosen task together; *task is what the dataset is for. */
MUST_CHECK enum error_code node_targets_check(struct node_targets *targets, enum task_choice choice,
                                              enum dataset_task *task, struct error *err);
/* After the check: stores the labels, if there are any, and the splits. */
MUST_CHECK enum error_code node_targets_put(const struct node_targets *targets, struct store *store,
                                            const char *dataset_id, struct error *err);
void node_targets_release(struct node_targets *targets);

#endif
