/*
 * known_pairs - which pairs of nodes are edges: those of the topology, and those that are held out.
 *
 * For negatives that are to be none, and for ranks that are to leave them out. Edges of the topology are looked up in
 * its rows, which ascend; the held-out ones in a sorted list, 8 bytes each.
 */
#ifndef STAGES_SAMPLING_KNOWN_PAIRS_H
#define STAGES_SAMPLING_KNOWN_PAIRS_H

#include "common/base/error.h"
#include "store/records/edge_splits.h"
#include "store/topology/topology.h"

#include <stdbool.h>
#include <stdint.h>

struct known_pairs {                 /* {0} is releasable */
    const struct topology *topology; /* borrowed */
    bool undirected;
    uint64_t *held; /* [held_count] ascending */
    uint64_t held_count;
};

/* `splits` NULL: nothing is held out. Fails: ERROR_NO_MEMORY, also when the list takes more than `budget_bytes` (0: any). */
MUST_CHECK enum error_code known_pairs_init(struct known_pairs *known,
                                            const struct topology *topology,
                                            const struct edge_splits *splits, uint64_t budget_bytes,
                                            struct error *err);
void known_pairs_release(struct known_pairs *known);
/* Whether there is an edge from `source` to `target`. Both below node_count. */
bool known_pairs_has(const struct known_pairs *known, uint32_t source, uint32_t target);

/* The edges from `source` in the row of `target`: positions [*first, *end) of the row. */
void known_pairs_find(const struct topology *topology, uint32_t source, uint32_t target,
                      uint64_t *first, uint64_t *end);

#endif
