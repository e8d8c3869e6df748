/*
 * node_permutation - both directions of a partition's renumbering of the nodes.
 *
 * partition writes it before the book. infer reads it, for its outputs are in ids of the dataset.
 * Every other program works with ids of the partition and the ranges of the book, so it neither
 * reads nor checks these two arrays.
 *
 *   key       partition/<id>/permutation
 *   sections  "to_dataset"   U32 [N]   partition id -> dataset id
 *             "to_partition" U32 [N]   dataset id -> partition id
 *   valid     the two maps are inverse permutations of 0..N-1
 */
#ifndef STORE_RECORDS_PARTITION_NODE_PERMUTATION_H
#define STORE_RECORDS_PARTITION_NODE_PERMUTATION_H

#include "common/base/error.h"
#include "store/objects/store.h"
#include "store/records/partition/type_ranges.h"

#include <stdint.h>

struct node_permutation {
    uint32_t node_count;
    const uint32_t *to_dataset;   /* [node_count] */
    const uint32_t *to_partition; /* [node_count] */
    struct record_view view;      /* release with store_release_record() */
};

/* The same for the nodes of one type, which are consecutive in a dataset: number in the type
 * (type_ranges.h) -> place among the type's nodes in the dataset, and back. {0} is empty. Release
 * with type_permutation_release(). */
struct type_permutation {
    uint32_t first_node; /* of the dataset */
    struct node_permutation of;
    uint32_t *rows; /* [2 * node_count], owned */
};

/* Fails: ERROR_CORRUPT if the nodes of the type are not consecutive; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code type_permutation_find(const struct node_permutation *all,
                                                 const struct type_ranges *ranges, uint32_t type,
                                                 struct type_permutation *out, struct error *err);
void type_permutation_release(struct type_permutation *permutation);

MUST_CHECK enum error_code node_permutation_put(struct store *store, const char *partition_id,
                                                const struct node_permutation *permutation,
                                                struct error *err);
/* `node_count` is the number of nodes in the book. Fails: ERROR_NOT_FOUND; ERROR_CORRUPT naming the
 * key and what is wrong. */
MUST_CHECK enum error_code node_permutation_get(struct store *store, const char *partition_id,
                                                uint32_t node_count, struct node_permutation *out,
                                                struct error *err);

#endif
