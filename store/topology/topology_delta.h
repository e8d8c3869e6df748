/*
 * topology_delta - merges the rows of a relation in one part of a delta
 * (store/records/partition/partition_delta.h) from its base and its own file.
 *
 *   base, ids of the base      row of b: a c      row of d: b f
 *   file of the delta          row_node d x       neighbor: row of d: b x   row of x: d
 *   rows of the part           b: a c             d: b x                    x: d
 *
 * A row that the file has is used as it is. Any other row is the base's, with its ids converted to
 * those of the version. The conversion keeps the order of ids, so the row is sorted, and equal to
 * the byte to that of a partition that was written whole.
 */
#ifndef STORE_TOPOLOGY_TOPOLOGY_DELTA_H
#define STORE_TOPOLOGY_TOPOLOGY_DELTA_H

#include "common/base/error.h"
#include "store/objects/store.h"
#include "store/records/partition/partition_book.h"
#include "store/records/partition/partition_delta.h"
#include "store/topology/merged_rows.h"
#include "store/topology/topology.h"
#include "store/topology/topology_merge.h"

struct topology_base { /* {0} is closed */
    struct partition_delta delta;
    struct node_shift shift;
    struct relation *relation; /* [relations], owned */
    struct topology topology;  /* of the base */
};

/* Reads how the nodes of `book` follow from those of the base. The caller opens and closes the
 * topology of the base. Fails: ERROR_NOT_FOUND; ERROR_CORRUPT when the two do not match;
 * ERROR_NO_MEMORY. */
MUST_CHECK enum error_code topology_base_read(struct store *store,
                                              const struct partition_book *book,
                                              struct topology_base *out, struct error *err);
void topology_base_release(struct topology_base *base);

/* Merges the rows of a relation in part `number`, whose nodes and edge count are known, and points
 * the part's arrays to them. The part of the base must be open. The caller frees the lists of
 * chunks whether it fails or not. Fails: ERROR_CORRUPT when the edges differ from the seal;
 * ERROR_NO_SPACE; ERROR_NO_MEMORY; ERROR_IO. */
MUST_CHECK enum error_code topology_delta_merge(struct store *store,
                                                const struct topology_base *base,
                                                const struct held_arrays *own, int number,
                                                uint32_t relation, struct topology_part *part,
                                                struct merged_rows *out, struct error *err);

#endif
