/*
 * merged_links - the held-out edges of a partition, stored or made from those of its dataset.
 *
 * A stored record is read. If there is none, and the partition is a delta with a record "placement"
 * (records/partition/node_placement.h), the record is made in memory, equal to the byte: the held-out edges
 * of the dataset (merged_records.h) with the ids of the partition. This takes as much heap as the
 * record, and the permutation while it is made (merged_parts.h).
 */
#ifndef STORE_VERSIONS_MERGED_LINKS_H
#define STORE_VERSIONS_MERGED_LINKS_H

#include "common/base/error.h"
#include "store/objects/store.h"
#include "store/records/dataset/edge_splits.h"
#include "store/records/partition/partition_book.h"

/* Reads or makes the record, for a task on pairs. Uses the ids and the number of nodes of the book.
 * The caller releases out->view. Fails: ERROR_NOT_FOUND naming the record when it is neither stored
 * nor can be made, or its inputs are lost; ERROR_CORRUPT; ERROR_NO_MEMORY. Threads: any at once. */
MUST_CHECK enum error_code merged_part_links_get(struct store *store,
                                                 const struct partition_book *book,
                                                 struct edge_splits *out, struct error *err);

#endif
