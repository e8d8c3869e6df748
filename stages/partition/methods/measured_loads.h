/*
 * measured_loads - what a run measured of each node (stages/plan/node_loads.h), in the place of what the graph lets guess.
 *
 *   balance  the time that fell to a node, if the table has times, else its rows that were read, instead of its in-edges
 *   edges    an edge u -> v was sampled edges(v) / in-degree(v) times, if those of a node are drawn alike: so often what lies at u is wanted
 *            at v. That is what cutting it costs, instead of 1.
 *
 * Costs are fixed-point numbers, so that sums of them depend on no order: LOAD_ONE is the mean of all edges, those of both directions
 * between two nodes of an undirected graph counting as one, whose cost is the sum. An edge that was never sampled costs a little, too:
 * among such edges the fewest are cut.
 */
#ifndef STAGES_PARTITION_METHODS_MEASURED_LOADS_H
#define STAGES_PARTITION_METHODS_MEASURED_LOADS_H

#include "common/base/error.h"
#include "store/objects/store.h"
#include "store/records/dataset_schema.h"

#include <stdint.h>

enum { LOAD_ONE = 1024, LOAD_LEAST = 32, LOAD_MOST = 1 << 24 };

struct measured_loads { /* {0}: there are none */
    uint32_t *
        load; /* [node_count] rows or nanoseconds, owned, as is the next; scaled down where their sum is above 2^31 - 1 */
    uint32_t *edge_cost; /* [node_count] of each in-edge of the node: LOAD_LEAST to LOAD_MOST */
    uint64_t load_sum;
};

/* Reads the table at `path` of the dataset. `in_degree` [node_count]. *out is the caller's to release, failure or not.
 * Fails: what node_loads_read() fails with; ERROR_CORRUPT of the dataset's ids; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code measured_loads_read(const char *path, struct store *store,
                                               const struct dataset_schema *schema,
                                               const uint32_t *in_degree,
                                               struct measured_loads *out, struct error *err);
void measured_loads_release(struct measured_loads *loads);

#endif
