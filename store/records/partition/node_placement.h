/*
 * node_placement - the facts about a version's nodes that do not follow from its base partition.
 *
 *   base: permutation, splits ──┐
 *   delta: which nodes are gone ┼─> permutation, assignment, splits of the version
 *   placement ──────────────────┘   (store/versions/merged_parts.h)
 *
 * Nodes that stay keep their order in the dataset and in their part, so the record does not list
 * them. Held-out edges are those of the dataset (store/versions/merged_links.h). A partition with
 * this record needs no records of permutation, assignment and splits, which take 16 bytes a node. A
 * partition that has those three is read as it is.
 *
 * partition writes it before the record of the delta (partition_delta.h). Readers of one of the
 * three read it. It lives as long as the partition.
 *
 *   key       partition/<id>/placement
 *   sections  "base"       text: the id of the base partition
 *             "new_node"   U32: the nodes of the dataset that the base does not have, in the order
 *                          of their ids in the partition
 *             "split_node" U32, ascending: ids in the partition of the nodes that are in another
 *                          split than in the base; a new node is in no split of the base
 *             "split"      U8 [as many]: 0 for none, else 1 + enum split
 *             "method", "full_cut" as in an assignment (partition_book.h)
 *   version   1
 */
#ifndef STORE_RECORDS_PARTITION_NODE_PLACEMENT_H
#define STORE_RECORDS_PARTITION_NODE_PLACEMENT_H

#include "common/base/error.h"
#include "store/objects/keys.h"
#include "store/objects/store.h"

#include <stdint.h>

enum { PLACEMENT_METHOD_SIZE = 64 };

/* A writer fills all but `view`. */
struct node_placement {
    char base[ID_SIZE];
    char method[PLACEMENT_METHOD_SIZE];
    double full_cut;
    uint32_t new_count, split_count;
    const uint32_t *new_node;   /* [new_count] */
    const uint32_t *split_node; /* [split_count] */
    const uint8_t *split;       /* [split_count] */
    struct record_view view;    /* release with store_release_record() */
};

MUST_CHECK enum error_code node_placement_put(struct store *store, const char *partition_id,
                                              const struct node_placement *placement,
                                              struct error *err);
/* Fails: ERROR_NOT_FOUND; ERROR_CORRUPT naming record, section, expected and found. */
MUST_CHECK enum error_code node_placement_get(struct store *store, const char *partition_id,
                                              struct node_placement *out, struct error *err);
/* Checks and reads a record that is in memory. out->view is a copy of `view`, so only one of the
 * two is to be released. */
MUST_CHECK enum error_code node_placement_decode(const struct record_view *view,
                                                 struct node_placement *out, struct error *err);
/* Copies the id of the base, or "" without such a record. Fails: ERROR_CORRUPT; ERROR_IO. */
MUST_CHECK enum error_code node_placement_base(struct store *store, const char *partition_id,
                                               char base[ID_SIZE], struct error *err);

#endif
