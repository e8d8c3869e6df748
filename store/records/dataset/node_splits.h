/*
 * node_splits - the nodes for training, validation and test; for a task of graphs (graph_index.h)
 * the graphs.
 *
 * ingest writes them in ids of the dataset. partition writes them in its own ids, which sample and
 * infer read.
 *
 *   dataset/<id>/splits, partition/<id>/splits
 *       "train", "valid", "test" U32, ascending; no node is in two of them
 */
#ifndef STORE_RECORDS_DATASET_NODE_SPLITS_H
#define STORE_RECORDS_DATASET_NODE_SPLITS_H

#include "common/base/error.h"
#include "store/objects/store.h"

#include <stdint.h>

enum split { SPLIT_TRAIN, SPLIT_VALID, SPLIT_TEST, SPLIT_COUNT };

/* Arrays point into `view`, which the caller releases with store_release_record(). A writer fills
 * the pointers and leaves `view` zero. */
struct node_splits {
    uint32_t count[SPLIT_COUNT];
    const uint32_t *node[SPLIT_COUNT];
    struct record_view view;
};

/* `key` is dataset/<id>/splits, or partition/<id>/splits for ids of the partition. */
MUST_CHECK enum error_code node_splits_put(struct store *store, const char *key, const char *owner,
                                           const struct node_splits *splits, struct error *err);
MUST_CHECK enum error_code node_splits_get(struct store *store, const char *key, const char *owner,
                                           struct node_splits *out, struct error *err);
/* Checks and reads a record that is in memory. out->view is a copy of `view`, so only one of the
 * two is to be released; after a failure it is zero. Fails: ERROR_CORRUPT naming key and section,
 * what was expected and what was found. */
MUST_CHECK enum error_code node_splits_decode(const struct record_view *view,
                                              struct node_splits *out, struct error *err);

#endif
