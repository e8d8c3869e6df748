/*
 * node_splits - which nodes are for training, validation and test; of a task of graphs (graph_index.h) which graphs.
 *
 * Written by ingest in ids of the dataset and by partition in its own, which sample and infer read.
 *
 *   dataset/<id>/splits, partition/<id>/splits
 *       "train", "valid", "test" U32, ascending; no node in two of them
 */
#ifndef STORE_RECORDS_NODE_SPLITS_H
#define STORE_RECORDS_NODE_SPLITS_H

#include "common/base/error.h"
#include "store/objects/store.h"

#include <stdint.h>

enum split { SPLIT_TRAIN, SPLIT_VALID, SPLIT_TEST, SPLIT_COUNT };

/* Arrays point into `view`, which the caller releases with store_release_record(). For writing, fill
 * the pointers and leave `view` zero. */
struct node_splits {
    uint32_t count[SPLIT_COUNT];
    const uint32_t *node[SPLIT_COUNT];
    struct record_view view;
};

/* `key` is dataset/<id>/splits, or partition/<id>/splits where ids are those of the partition. */
MUST_CHECK enum error_code node_splits_put(struct store *store, const char *key, const char *owner,
                                           const struct node_splits *splits, struct error *err);
MUST_CHECK enum error_code node_splits_get(struct store *store, const char *key, const char *owner,
                                           struct node_splits *out, struct error *err);
/* The checks alone, of a decoded record of any origin. out->view is a copy of `view`, so only one of
 * the two is to be released, failure or not. Fails: ERROR_CORRUPT naming key and section, what was
 * expected and what was found. */
MUST_CHECK enum error_code node_splits_decode(const struct record_view *view,
                                              struct node_splits *out, struct error *err);

#endif
