/*
 * topology_join - adds other edges between its nodes to the rows of a topology.
 *
 *   rows of the topology     row of b: a c
 *   other edges              a -> b, d -> b
 *   joined rows              row of b: a a c d
 *
 * A row ascends by source. Among edges with the same ends, those of the topology come first, then
 * the others in their order. The joined rows are in an unnamed scratch file of this process
 * (merged_rows.h) that no one else sees; the topology itself is unchanged.
 */
#ifndef STORE_TOPOLOGY_TOPOLOGY_JOIN_H
#define STORE_TOPOLOGY_TOPOLOGY_JOIN_H

#include "common/base/error.h"
#include "store/objects/store.h"
#include "store/topology/merged_rows.h"
#include "store/topology/topology.h"

#include <stdint.h>

struct other_edges { /* of one relation; borrowed */
    uint64_t count;
    const uint32_t *source, *target;  /* [count]; by target, then by source, ascending */
    struct edge_columns_view columns; /* [count], with the topology's widths */
};

struct joined_topology { /* {0} is closed */
    struct topology topology;
    struct merged_rows *rows; /* [part_count, relations], owned */
};

/* Joins a topology with others [relations]; all of its parts are open. It may be closed afterwards.
 * Fails: ERROR_CORRUPT for an end out of range or out of order, a target that has no row in the
 * relation, or columns of other widths; ERROR_NO_SPACE; ERROR_NO_MEMORY; ERROR_IO. */
MUST_CHECK enum error_code topology_join(struct store *store, const struct topology *topology,
                                         const struct other_edges *others,
                                         struct joined_topology *out, struct error *err);
void joined_topology_close(struct joined_topology *joined);

#endif
