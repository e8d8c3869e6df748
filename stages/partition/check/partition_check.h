/*
 * partition_check - reads back what was written and compares it with the dataset.
 *
 * Before the book commits a partition, all of it is opened as later stages will open it:
 *   every edge of the dataset is in exactly one part, with the right endpoints, weight, time and type:
 *     a sum of hashes over all edges, taken from the edge chunks and from the topologies mapped back
 *   every halo node is known: each source is a node of the book, of the source type of its relation; rows ascend; the
 *     rows of a relation are the nodes of its target type
 *   shards have the rows and tensors of their part; rows of features and labels of sampled nodes are
 *     equal to the dataset's, bit for bit
 *   splits hold the nodes that the dataset's hold; a permutation that is not stored is what readers will make
 */
#ifndef STAGES_PARTITION_CHECK_PARTITION_CHECK_H
#define STAGES_PARTITION_CHECK_PARTITION_CHECK_H

#include "common/base/error.h"
#include "store/objects/store.h"
#include "store/records/dataset_schema.h"
#include "store/records/node_permutation.h"
#include "store/records/partition_book.h"
#include "store/records/tensor_spec.h"

struct partition_check { /* all borrowed */
    struct store *store;
    const struct dataset_schema *schema;
    const struct partition_book *book; /* not stored yet */
    const struct node_permutation *permutation;
    bool
        is_placed; /* it is not stored, but follows from the base (store/records/node_placement.h) */
    enum tensor_type feature_type; /* what features are to be stored in */
};

/* Fails: ERROR_CORRUPT naming what differs, expected and found. */
MUST_CHECK enum error_code partition_check(const struct partition_check *check, struct error *err);

#endif
