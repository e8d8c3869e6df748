/*
 * node_labels - the label or labels of each node of a dataset; in a task of graphs (graph_index.h)
 * those of each graph.
 *
 * ingest writes them. partition reads those of nodes, train-step and infer those of graphs.
 *
 *   dataset/<id>/labels
 *       "shape" U64 [2]            N, class_count
 *       "task"  text               the task; its row says how wide a row of labels is and what it
 *                                  may hold
 *       "label" I32 or F32 [N, label_width]
 *
 * Version 1 had no "task", and another section for several labels a node.
 */
#ifndef STORE_RECORDS_DATASET_NODE_LABELS_H
#define STORE_RECORDS_DATASET_NODE_LABELS_H

#include "common/base/error.h"
#include "common/nn/tasks/task.h"
#include "store/objects/store.h"

#include <stdint.h>

/* Arrays point into `view`, which the caller releases with store_release_record(). A writer fills
 * the pointers and leaves `view` zero. */
struct node_labels {
    uint32_t node_count;
    enum task_kind task;
    uint32_t class_count;
    const void *row; /* [node_count, label_width of the task], of four bytes each */
    struct record_view view;
};

MUST_CHECK enum error_code node_labels_put(struct store *store, const char *dataset_id,
                                           const struct node_labels *labels, struct error *err);
MUST_CHECK enum error_code node_labels_get(struct store *store, const char *dataset_id,
                                           struct node_labels *out, struct error *err);
/* Checks and reads a record that is in memory. out->view is a copy of `view`, so only one of the
 * two is to be released; after a failure it is zero. Fails: ERROR_CORRUPT naming key and section,
 * what was expected and what was found. */
MUST_CHECK enum error_code node_labels_decode(const struct record_view *view,
                                              struct node_labels *out, struct error *err);

#endif
