/*
 * partition_check - reads a partition back and compares it with the dataset.
 *
 * Before the book commits a partition, all of it is opened as later stages will open it, and this
 * is checked:
 * - Every edge of the dataset is in exactly one part, with the right endpoints, weight, time and
 *   type: the sum of hashes over all edges of the edge chunks equals that over the topologies.
 * - Every halo node is known: each source is a node of the book, of the source type of its
 *   relation. Rows ascend. The rows of a relation are the nodes of its target type.
 * - Shards have the rows and tensors of their part. Rows of features and labels of sampled nodes
 *   are equal to the dataset's, bit for bit.
 * - Splits have the nodes of the dataset's splits. A permutation that is not stored is the one that
 *   readers will compute.
 */
#ifndef STAGES_PARTITION_CHECK_PARTITION_CHECK_H
#define STAGES_PARTITION_CHECK_PARTITION_CHECK_H

#include "common/base/error.h"
#include "store/objects/store.h"
#include "store/records/dataset/dataset_schema.h"
#include "store/records/partition/node_permutation.h"
#include "store/records/partition/partition_book.h"
#include "store/records/round/tensor_spec.h"

struct partition_check { /* all borrowed */
    struct store *store;
    const struct dataset_schema *schema;
    const struct partition_book *book; /* not stored yet */
    const struct node_permutation *permutation;
    /* The permutation is not stored: readers compute it from the base
     * (store/records/partition/node_placement.h). */
    bool is_placed;
    enum tensor_type feature_type; /* the type in which features are stored */
};

/* Does all these checks. Fails: ERROR_CORRUPT naming what differs, expected and found. */
MUST_CHECK enum error_code partition_check(const struct partition_check *check, struct error *err);

#endif
