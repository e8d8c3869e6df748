/*
 * node_placement - what does not follow of a version's assignment, permutation and splits from those of the partition that it is a delta of.
 *
 *   base: permutation, splits ──┐
 *   delta: which nodes are gone ┼─> permutation, assignment, splits of the version (store/versions/merged_parts.h)
 *   placement ──────────────────┘
 *
 * Held-out edges are those of the dataset (store/versions/merged_links.h). Nodes that stay keep their order, in the dataset as in their part, and so nothing is to be said of them. A partition that has this record
 * does without those three, which take 16 bytes a node; one that has them is read as it is.
 *
 * Written by partition before the record of the delta (partition_delta.h); read by whoever asks for one of the three. Lives as long as the partition.
 *
 *   key       partition/<id>/placement
 *   sections  "base"       text: the id of the partition
 *             "new_node"   U32: the nodes of the dataset that the base has not, in the order of their ids in the partition
 *             "split_node" U32, ascending: ids of the partition of nodes in another split than in the base; of new ones, than in none
 *             "split"      U8 [the same]: 0 none, else 1 + enum split
 *             "method", "full_cut" as in an assignment (partition_book.h)
 *   version   1
 */
#ifndef STORE_RECORDS_NODE_PLACEMENT_H
#define STORE_RECORDS_NODE_PLACEMENT_H

#include "common/base/error.h"
#include "store/objects/keys.h"
#include "store/objects/store.h"

#include <stdint.h>

enum { PLACEMENT_METHOD_SIZE = 64 };

/* For writing, fill all but `view`. */
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
/* The checks alone, of a record of any origin. out->view is a copy of `view`, so only one of the two is to be released. */
MUST_CHECK enum error_code node_placement_decode(const struct record_view *view,
                                                 struct node_placement *out, struct error *err);
/* The id of the base, or "" where there is no such record. Fails: ERROR_CORRUPT; ERROR_IO. */
MUST_CHECK enum error_code node_placement_base(struct store *store, const char *partition_id,
                                               char base[ID_SIZE], struct error *err);

#endif
