/*
 * merged_parts - assignment, permutation and splits of a partition, stored or merged from those of
 * its base.
 *
 * All code reads them through these functions. A stored record is read. If there is none, and the
 * partition is a delta with a record "placement" (records/partition/node_placement.h), the record is made in
 * memory, equal to the byte, and released in the same way, with store_release_record(). It takes
 * heap, where a stored record is mapped: a permutation 8 bytes for each node, and 4 for each node
 * of the base while it is made; an assignment 4, and 12 while it is made; splits 4 for each node in
 * one. So a program should hold each of them only once.
 *
 * All of them fail as the functions of the records do: ERROR_NOT_FOUND naming the record when it is
 * neither stored nor can be merged, or its inputs are lost; ERROR_CORRUPT also for records that do
 * not match. Threads: any at once.
 */
#ifndef STORE_VERSIONS_MERGED_PARTS_H
#define STORE_VERSIONS_MERGED_PARTS_H

#include "common/base/error.h"
#include "store/objects/store.h"
#include "store/records/dataset/node_splits.h"
#include "store/records/partition/node_permutation.h"
#include "store/records/partition/node_placement.h"

#include <stdbool.h>
#include <stdint.h>

struct node_assignment {
    uint32_t node_count;
    const uint32_t *part;               /* [node_count] */
    char method[PLACEMENT_METHOD_SIZE]; /* "" if it is not recorded */
    double full_cut;                    /* below 0: all nodes were partitioned */
    struct record_view
        view; /* of a vertex cut: has the edges (assignment_edges()); store_release_record() */
};

/* `node_count` is the number of nodes in the book. */
MUST_CHECK enum error_code merged_permutation_get(struct store *store, const char *partition_id,
                                                  uint32_t node_count, struct node_permutation *out,
                                                  struct error *err);
MUST_CHECK enum error_code merged_assignment_get(struct store *store, const char *partition_id,
                                                 struct node_assignment *out, struct error *err);
MUST_CHECK enum error_code merged_part_splits_get(struct store *store, const char *partition_id,
                                                  struct node_splits *out, struct error *err);
/* Returns the heap that the view of a merged record holds; 0 for a stored record. */
static inline uint64_t merged_bytes(const struct record_view *view)
{
    return view->section_count ? 0 : view->size;
}
/* Returns in *found whether the partition has an assignment and a permutation, stored or mergeable.
 * Fails: ERROR_CORRUPT; ERROR_IO. */
MUST_CHECK enum error_code merged_parts_find(struct store *store, const char *partition_id,
                                             bool *found, struct error *err);

#endif
