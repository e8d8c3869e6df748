/*
 * merged_links - the held-out edges of a partition, be they stored or made of its dataset's.
 *
 * A record that is stored is read as it is. Where there is none, and the partition is a delta with a record "placement" (records/node_placement.h),
 * what it would hold is made in memory, to the byte: the held-out edges of the dataset (merged_records.h), in the partition's ids. That takes heap as
 * large as the record, and the permutation while it is made (merged_parts.h).
 */
#ifndef STORE_VERSIONS_MERGED_LINKS_H
#define STORE_VERSIONS_MERGED_LINKS_H

#include "common/base/error.h"
#include "store/objects/store.h"
#include "store/records/edge_splits.h"
#include "store/records/partition_book.h"

/* Of a task of pairs; of the book the ids and the number of nodes are read. Release out->view. Fails: ERROR_NOT_FOUND naming the record when it is neither stored
 * nor to be made, or what it would be made of is lost; ERROR_CORRUPT; ERROR_NO_MEMORY. Threads: any at once. */
MUST_CHECK enum error_code merged_part_links_get(struct store *store,
                                                 const struct partition_book *book,
                                                 struct edge_splits *out, struct error *err);

#endif
