/*
 * topology_delta - the rows of a relation in one part of a delta (store/records/partition_delta.h), put together of its base and its own file.
 *
 *   base, ids of the base      row of b: a c      row of d: b f
 *   file of the delta          row_node d x       neighbor: row of d: b x   row of x: d
 *   rows of the part           b: a c             d: b x                    x: d
 *
 * A row of a relation that the file has stands as it is there; any other is the base's, with the ids of the version: these ascend as those of the
 * base did, so the row is in order, and to the byte what a partition that was written whole has.
 */
#ifndef STORE_TOPOLOGY_TOPOLOGY_DELTA_H
#define STORE_TOPOLOGY_TOPOLOGY_DELTA_H

#include "common/base/error.h"
#include "store/objects/store.h"
#include "store/records/partition_book.h"
#include "store/records/partition_delta.h"
#include "store/topology/merged_rows.h"
#include "store/topology/topology.h"
#include "store/topology/topology_merge.h"

struct topology_base { /* {0} is closed */
    struct partition_delta delta;
    struct node_shift shift;
    struct relation *relation; /* [relations], owned */
    struct topology topology;  /* of the base */
};

/* Reads how the nodes of `book` follow from those of the base, whose topology is the caller's to open and to close.
 * Fails: ERROR_NOT_FOUND; ERROR_CORRUPT when the two do not fit; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code topology_base_read(struct store *store,
                                              const struct partition_book *book,
                                              struct topology_base *out, struct error *err);
void topology_base_release(struct topology_base *base);

/* Puts the rows of a relation in part `number`, whose nodes and edge count are known, together, and points its arrays to them: the caller
 * frees the lists of chunks, failure or not. The part of the base is open.
 * Fails: ERROR_CORRUPT when the edges are others than the seal says; ERROR_NO_SPACE; ERROR_NO_MEMORY; ERROR_IO. */
MUST_CHECK enum error_code topology_delta_merge(struct store *store,
                                                const struct topology_base *base,
                                                const struct held_arrays *own, int number,
                                                uint32_t relation, struct topology_part *part,
                                                struct merged_rows *out, struct error *err);

#endif
