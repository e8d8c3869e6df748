/*
 * measured_loads - the loads of nodes that a run measured (stages/plan/model/node_loads.h), used instead
 * of guesses from the graph.
 *
 *   balance  the time spent on a node, if the table has times, or else the reads of its row,
 *            instead of its in-edges
 *   edges    an edge u -> v was sampled edges(v) / in-degree(v) times, if the edges of a node are
 *            drawn alike: so often v needs the row of u. This is the cost of cutting the edge,
 *            instead of 1.
 *
 * Costs are fixed-point numbers, so that their sums do not depend on the order. LOAD_ONE is the
 * mean cost of an edge; in an undirected graph both directions between two nodes count as one edge,
 * whose cost is the sum. An edge that was never sampled costs a little, too, so that few of such
 * edges are cut.
 */
#ifndef STAGES_PARTITION_RULES_MEASURED_LOADS_H
#define STAGES_PARTITION_RULES_MEASURED_LOADS_H

#include "common/base/error.h"
#include "store/objects/store.h"
#include "store/records/dataset/dataset_schema.h"

#include <stdint.h>

enum { LOAD_ONE = 1024, LOAD_LEAST = 32, LOAD_MOST = 1 << 24 };

struct measured_loads { /* {0}: there are none */
    /* [node_count] rows or nanoseconds, owned, and so is the next; scaled down if their sum is
     * above 2^31 - 1. */
    uint32_t *load;
    /* [node_count] cost of each in-edge of the node: LOAD_LEAST to LOAD_MOST. */
    uint32_t *edge_cost;
    uint64_t load_sum;
};

/* Reads the table at `path` for the dataset. `in_degree` [node_count]. *out is the caller's to
 * release, failure or not. Fails: what node_loads_read() fails with; ERROR_CORRUPT for the
 * dataset's ids; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code measured_loads_read(const char *path, struct store *store,
                                               const struct dataset_schema *schema,
                                               const uint32_t *in_degree,
                                               struct measured_loads *out, struct error *err);
void measured_loads_release(struct measured_loads *loads);

#endif
