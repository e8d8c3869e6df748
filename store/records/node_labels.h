/*
 * node_labels - the label of each node of a dataset, or its labels; of a task of graphs (graph_index.h) that of each graph.
 *
 * Written by ingest, read by partition; those of graphs by train-step and infer.
 *
 *   dataset/<id>/labels
 *       "shape" U64 [2]            N, class_count
 *       "task"  text               what they are labels of; its row says how wide a row is and what it may hold
 *       "label" I32 or F32 [N, label_width]
 *
 * Version 1 had no "task", and another section for several labels a node.
 */
#ifndef STORE_RECORDS_NODE_LABELS_H
#define STORE_RECORDS_NODE_LABELS_H

#include "common/base/error.h"
#include "common/nn/tasks/task.h"
#include "store/objects/store.h"

#include <stdint.h>

/* Arrays point into `view`, which the caller releases with store_release_record(). For writing, fill
 * the pointers and leave `view` zero. */
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
/* The checks alone, of a decoded record of any origin. out->view is a copy of `view`, so only one of
 * the two is to be released, failure or not. Fails: ERROR_CORRUPT naming key and section, what was
 * expected and what was found. */
MUST_CHECK enum error_code node_labels_decode(const struct record_view *view,
                                              struct node_labels *out, struct error *err);

#endif
