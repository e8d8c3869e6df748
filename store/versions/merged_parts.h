/*
 * merged_parts - assignment, permutation and splits of a partition, be they stored or merged from those of its base.
 *
 * Whoever reads one of them comes by here. A record that is stored is read as it is. Where there is none, and the partition is a delta whose
 * record "placement" says the rest (records/node_placement.h), what it would hold is made in memory, to the byte, and released in the same way,
 * with store_release_record(). It takes heap, where a stored one is mapped: a permutation 8 bytes a node, and 4 for each of the base while it
 * is made; an assignment 4, and 12 meanwhile; splits 4 for each node in one. So it is for who has that at hand once, and no one else.
 *
 * All of them fail as the functions of the records do: ERROR_NOT_FOUND naming the record when it is neither stored nor to be merged, or what it
 * would be merged from is lost; ERROR_CORRUPT also for records that do not fit together. Threads: any at once.
 */
#ifndef STORE_VERSIONS_MERGED_PARTS_H
#define STORE_VERSIONS_MERGED_PARTS_H

#include "common/base/error.h"
#include "store/objects/store.h"
#include "store/records/node_permutation.h"
#include "store/records/node_placement.h"
#include "store/records/node_splits.h"

#include <stdbool.h>
#include <stdint.h>

struct node_assignment {
    uint32_t node_count;
    const uint32_t *part;               /* [node_count] */
    char method[PLACEMENT_METHOD_SIZE]; /* "": none is named */
    double full_cut;                    /* below 0: all nodes were partitioned */
    struct record_view
        view; /* of a vertex cut has the edges (assignment_edges()); release with store_release_record() */
};

/* `node_count` is that of the book. */
MUST_CHECK enum error_code merged_permutation_get(struct store *store, const char *partition_id,
                                                  uint32_t node_count, struct node_permutation *out,
                                                  struct error *err);
MUST_CHECK enum error_code merged_assignment_get(struct store *store, const char *partition_id,
                                                 struct node_assignment *out, struct error *err);
MUST_CHECK enum error_code merged_part_splits_get(struct store *store, const char *partition_id,
                                                  struct node_splits *out, struct error *err);
/* Heap that a view of something merged holds; 0 of a record that is stored. */
static inline uint64_t merged_bytes(const struct record_view *view)
{
    return view->section_count ? 0 : view->size;
}
/* *found: the partition has an assignment and a permutation, stored or to be merged. Fails: ERROR_CORRUPT; ERROR_IO. */
MUST_CHECK enum error_code merged_parts_find(struct store *store, const char *partition_id,
                                             bool *found, struct error *err);

#endif
